use super::*;
use crate::messages::{AddMessages, AiMessage, InvalidToolCall, Message, MessagesUpdate, Role, ToolCall};
use crate::reducers::{Reducer, Stamp};

/// Parses a history: `h` is from a person, `s` from the system, `a` from a model. `a(1,2)` makes calls with these ids,
/// `a(!1)` an invalid one; `t1` answers call 1. Message ids are indices.
fn history(words: &str) -> Vec<Message> {
    words.split_whitespace().enumerate().map(|(at, word)| message(word).with_id(format!("m{at}"))).collect()
}

fn message(word: &str) -> Message {
    match word.split_at(1) {
        ("h", text) => Message::human(text),
        ("s", text) => Message::system(text),
        ("t", id) => Message::tool(id.split('=').next().unwrap(), word),
        ("a", calls) => {
            let calls = calls.trim_matches(['(', ')']).split(',').filter(|call| !call.is_empty());
            let add = |ai: AiMessage, call: &str| match call.strip_prefix('!') {
                Some(id) => ai.invalid_call(InvalidToolCall::new(id, format!("tool_{id}"), "{")),
                None => ai.call(ToolCall::new(call, format!("tool_{call}"))),
            };
            calls.fold(AiMessage::new(word), add).into()
        }
        _ => panic!("`{word}` is no message"),
    }
}

/// Writes a history in the same notation. Added messages are `+n` (note), `+c` (closing) and `+t1`.
fn words(history: &[Message]) -> String {
    let word = |message: &Message| match message {
        Message::System(_) if message.text() == RepairTexts::default().note => "+n".to_owned(),
        Message::Ai(_) if message.text() == RepairTexts::default().closing => "+c".to_owned(),
        Message::Tool(tool) if message.text() == RepairTexts::default().placeholder => {
            assert_eq!(tool.name, Some(format!("tool_{}", tool.tool_call_id)));
            format!("+t{}", tool.tool_call_id)
        }
        Message::Human(_) => format!("h{}", message.text()),
        Message::System(_) => format!("s{}", message.text()),
        Message::Ai(_) | Message::Tool(_) => message.text().into_owned(),
    };
    history.iter().map(word).collect::<Vec<_>>().join(" ")
}

fn folded(mut history: Vec<Message>, update: MessagesUpdate) -> Vec<Message> {
    let delta = AddMessages::prepare(update, &Stamp::new("sanity", 1, 0)).unwrap();
    AddMessages::fold(&mut history, delta).unwrap();
    history
}

fn check(before: &str, after: &str) {
    let start = history(before);
    let update = repair(&start, &RepairTexts::default());
    let end = folded(start.clone(), update.unwrap_or_else(|| panic!("{before} is not in order")));
    assert_eq!(words(&end), after, "{before}");
    assert_eq!(repair(&end, &RepairTexts::default()), None, "{before} is in order now");
    for message in &start {
        let after = end.iter().find(|kept| kept.id() == message.id());
        assert!(after.is_none_or(|kept| kept == message), "{before}: remaining messages are unchanged");
        assert!(after.is_some() || message.role() == Role::Tool, "{before}: only tool messages are dropped");
    }
    assert!(end.iter().all(|message| message.id().is_some()));
}

#[test]
fn ordered_history_is_unchanged() {
    for before in [
        "",
        "h",
        "s h",
        "h a",
        "h a h a",
        "h s h",
        "a",
        "a a",
        "h a(1) t1 a",
        "h a(1) t1 h a",
        "h a(1) t1 a(2) t2 a h",
        "h a(1,2,3) t3 t1 t2 a",
        "h a(1,!2) t2 t1 a",
        "h a(0) t0 a(0) t0 a",
        "h a(0) t0 a h a(0) t0 a",
        "h a(1,1) t1 a",
    ] {
        assert_eq!(repair(&history(before), &RepairTexts::default()), None, "{before}");
    }
}

#[test]
fn unanswered_call_gets_a_placeholder() {
    check("h a(1)", "h a(1) +t1 +c");
    check("h a(1) h", "h a(1) +t1 h");
    check("h a(1,2) h", "h a(1,2) +t1 +t2 h");
    check("h a(1,2,3) t2 h", "h a(1,2,3) t2 +t1 +t3 h");
    check("h a(1,2,3,4) t4 t2", "h a(1,2,3,4) t4 t2 +t1 +t3 +c");
    check("h a(1) a(2) t2 a", "h a(1) +t1 a(2) t2 a");
    check("h a(1) h a(2) h a(3) t3 a h", "h a(1) +t1 h a(2) +t2 h a(3) t3 a h");
    check("h a(!1,2) t2 h", "h a(!1,2) t2 +t1 h");
    check("h a(1) s h", "h a(1) +t1 s h");
    check("h a(1,1) h", "h a(1,1) +t1 h");
}

#[test]
fn misplaced_answer_moves_to_its_call() {
    check("h a(1) s t1 a", "h a(1) t1 s a");
    check("h a(1) h t1 a", "h a(1) t1 h a");
    check("h a(1,2) t2 s t1 a", "h a(1,2) t2 t1 s a");
    check("h a(1) a(2) t2 t1 a", "h a(1) t1 a(2) t2 a");
    check("h a(1,2,3) h t3 s t1 a", "h a(1,2,3) t3 t1 +t2 h s a");
    // Moving an answer may make two messages from a person adjacent.
    check("h a h a(1) h t1 h a", "h a h a(1) t1 h +n h a");
}

#[test]
fn stray_and_second_answers_are_dropped() {
    check("h t1 a", "h a");
    check("t1 h a", "h a");
    check("h t1 a(1) h", "h a(1) +t1 h");
    check("h a(1) t2 h", "h a(1) +t1 h");
    check("h a(1) t1=x t1=y a", "h a(1) t1=x a");
    check("h a(1) t1=x a t1=y h", "h a(1) t1=x a h");
    check("h t9", "h");
    check("t9", "");
}

#[test]
fn reused_call_id_belongs_to_the_last_message() {
    check("h a(0) h a(0) t0 a", "h a(0) +t0 h a(0) t0 a");
    check("h a(0) t0 a h a(0) h", "h a(0) t0 a h a(0) +t0 h");
    // The second of two answers does not answer an older call.
    check("h a(0) h a(0) t0=x t0=y a", "h a(0) +t0 h a(0) t0=x a");
    check("h a(0,1) t1 h a(0) t0 t1 a", "h a(0,1) t1 +t0 h a(0) t0 a");
    check("h a(0,1) t0 h a(0) t0 t1 a", "h a(0,1) t0 t1 h a(0) t0 a");
}

#[test]
fn note_separates_consecutive_human_messages() {
    check("h h", "h +n h");
    check("h1 h2 h3 a", "h1 +n h2 +n h3 a");
    // Dropping the tool message makes the two adjacent.
    check("h1 t9 h2 a", "h1 +n h2 a");
}

#[test]
fn history_ending_with_a_tool_is_closed() {
    check("h a(1) t1", "h a(1) t1 +c");
    check("h a(1,2) t2 t1", "h a(1,2) t2 t1 +c");
    check("h a(1) h t1", "h a(1) t1 h");
}

#[test]
fn incomplete_end_is_only_appended_to() {
    let update = |before: &str| repair(&history(before), &RepairTexts::default()).unwrap().0;
    assert_eq!(update("h a h a(1,2) t2").len(), 2);
    assert_eq!(update("h a h a(1,2) t2 t1").len(), 1);
    assert_eq!(update("h a(1) h").len(), 5);
}

#[test]
fn placeholder_has_error_status() {
    let mended = folded(history("h a(1)"), repair(&history("h a(1)"), &RepairTexts::default()).unwrap());
    let answer = mended[2].as_tool().unwrap();
    assert_eq!(answer.status, crate::messages::ToolStatus::Error);
    let nameless = [AiMessage::new("").invalid_call(InvalidToolCall::new("1", "", "{")).into()];
    let mended = folded(nameless.to_vec(), repair(&nameless, &RepairTexts::default()).unwrap());
    assert_eq!(mended[1].name(), None);
}

#[test]
fn texts_can_be_replaced() {
    let texts =
        RepairTexts::default().note("Notiz").placeholder(String::from("kein Ergebnis")).closing("Schluss");
    let before = history("h h a(1)");
    let after = folded(before.clone(), repair(&before, &texts).unwrap());
    let texts_after: Vec<_> = after.iter().map(|message| message.text().into_owned()).collect();
    assert_eq!(texts_after, ["", "Notiz", "", "a(1)", "kein Ergebnis", "Schluss"]);
    assert_eq!(repair(&after, &texts), None);
}

/// States with `add_messages` have no such calls; other states must not fail because of them.
#[test]
fn calls_without_id_are_ignored() {
    let before =
        [message("h"), AiMessage::new("").call(ToolCall::new("", "x")).into(), message("t"), message("h")];
    let after = folded(before.to_vec(), repair(&before, &RepairTexts::default()).unwrap());
    assert_eq!(after.len(), 3);
}
