use super::*;
use crate::messages::{AddMessages, AiMessage, InvalidToolCall, Message, MessagesUpdate, Role, ToolCall};
use crate::reducers::{Reducer, Stamp};

/// `h` is a person's message, `s` a system's, `a` a model's; `a(1,2)` makes calls of these ids, `a(!1)` one that cannot be
/// read; `t1` answers call 1. Ids of messages are their places.
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

/// What a history is in the words above; what was put in is `+n` (a note), `+c` (a closing) and `+t1`.
fn words(history: &[Message]) -> String {
    let word = |message: &Message| match message {
        Message::System(_) if message.text() == Texts::default().note => "+n".to_owned(),
        Message::Ai(_) if message.text() == Texts::default().closing => "+c".to_owned(),
        Message::Tool(tool) if message.text() == Texts::default().placeholder => {
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
    let update = repair(&start, &Texts::default());
    let end = folded(start.clone(), update.unwrap_or_else(|| panic!("{before} is not in order")));
    assert_eq!(words(&end), after, "{before}");
    assert_eq!(repair(&end, &Texts::default()), None, "{before} is in order now");
    for message in &start {
        let there = end.iter().find(|kept| kept.id() == message.id());
        assert!(there.is_none_or(|kept| kept == message), "{before}: what stays is as it was");
        assert!(there.is_some() || message.role() == Role::Tool, "{before}: only tool messages go");
    }
    assert!(end.iter().all(|message| message.id().is_some()));
}

#[test]
fn a_history_that_is_in_order_is_left_alone() {
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
        assert_eq!(repair(&history(before), &Texts::default()), None, "{before}");
    }
}

#[test]
fn a_call_without_an_answer_gets_one_wherever_it_is() {
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
fn an_answer_that_stands_elsewhere_is_brought_behind_its_call() {
    check("h a(1) s t1 a", "h a(1) t1 s a");
    check("h a(1) h t1 a", "h a(1) t1 h a");
    check("h a(1,2) t2 s t1 a", "h a(1,2) t2 t1 s a");
    check("h a(1) a(2) t2 t1 a", "h a(1) t1 a(2) t2 a");
    check("h a(1,2,3) h t3 s t1 a", "h a(1,2,3) t3 t1 +t2 h s a");
    // What stood between two messages of a person may be gone then.
    check("h a h a(1) h t1 h a", "h a h a(1) t1 h +n h a");
}

#[test]
fn an_answer_without_its_call_and_a_second_one_are_dropped() {
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
fn ids_that_a_server_uses_again_belong_to_the_message_before() {
    check("h a(0) h a(0) t0 a", "h a(0) +t0 h a(0) t0 a");
    check("h a(0) t0 a h a(0) h", "h a(0) t0 a h a(0) +t0 h");
    // The second of two answers is no answer to an older call.
    check("h a(0) h a(0) t0=x t0=y a", "h a(0) +t0 h a(0) t0=x a");
    check("h a(0,1) t1 h a(0) t0 t1 a", "h a(0,1) t1 +t0 h a(0) t0 a");
    check("h a(0,1) t0 h a(0) t0 t1 a", "h a(0,1) t0 t1 h a(0) t0 a");
}

#[test]
fn a_person_who_speaks_twice_is_told_apart() {
    check("h h", "h +n h");
    check("h1 h2 h3 a", "h1 +n h2 +n h3 a");
    // Nothing stands between them once what does not belong there is gone.
    check("h1 t9 h2 a", "h1 +n h2 a");
}

#[test]
fn a_history_that_ends_on_a_tool_is_closed() {
    check("h a(1) t1", "h a(1) t1 +c");
    check("h a(1,2) t2 t1", "h a(1,2) t2 t1 +c");
    check("h a(1) h t1", "h a(1) t1 h");
}

#[test]
fn what_lacks_only_its_end_is_appended_to_and_keeps_what_is_stored() {
    let update = |before: &str| repair(&history(before), &Texts::default()).unwrap().0;
    assert_eq!(update("h a h a(1,2) t2").len(), 2);
    assert_eq!(update("h a h a(1,2) t2 t1").len(), 1);
    assert_eq!(update("h a(1) h").len(), 5);
}

#[test]
fn a_placeholder_says_that_the_call_has_failed() {
    let mended = folded(history("h a(1)"), repair(&history("h a(1)"), &Texts::default()).unwrap());
    let answer = mended[2].as_tool().unwrap();
    assert_eq!(answer.status, crate::messages::ToolStatus::Error);
    let nameless = [AiMessage::new("").invalid_call(InvalidToolCall::new("1", "", "{")).into()];
    let mended = folded(nameless.to_vec(), repair(&nameless, &Texts::default()).unwrap());
    assert_eq!(mended[1].name(), None);
}

#[test]
fn texts_are_ones_own() {
    let texts = Texts::default().note("Notiz").placeholder(String::from("kein Ergebnis")).closing("Schluss");
    let before = history("h h a(1)");
    let after = folded(before.clone(), repair(&before, &texts).unwrap());
    let said: Vec<_> = after.iter().map(|message| message.text().into_owned()).collect();
    assert_eq!(said, ["", "Notiz", "", "a(1)", "kein Ergebnis", "Schluss"]);
    assert_eq!(repair(&after, &texts), None);
}

/// No state that `add_messages` keeps has one; it must not stop the conversation for ever if another one has.
#[test]
fn calls_and_answers_without_an_id_fail_nothing() {
    let before =
        [message("h"), AiMessage::new("").call(ToolCall::new("", "x")).into(), message("t"), message("h")];
    let after = folded(before.to_vec(), repair(&before, &Texts::default()).unwrap());
    assert_eq!(after.len(), 3);
}
