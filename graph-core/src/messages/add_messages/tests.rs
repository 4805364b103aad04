use super::*;
use crate::messages::Message;

fn list(ids: &str) -> Vec<Message> {
    ids.split_whitespace().map(|id| Message::human(id).with_id(id.split('=').next().unwrap_or(id))).collect()
}

/// Parses an update: `a=x` adds a message `a=x` with the id `a`, `-a` removes it, `*` removes all.
fn delta(updates: &str) -> MessagesDelta {
    let one = |word: &str| match word.strip_prefix('-') {
        Some(id) => MessageUpdate::from(Remove::id(id)),
        None if word == "*" => Remove::all().into(),
        None => list(word).remove(0).into(),
    };
    AddMessages::prepare(updates.split_whitespace().map(one).collect(), &Stamp::new("n", 1, 0)).unwrap()
}

fn contents(list: &[Message]) -> String {
    list.iter().map(|message| message.text().into_owned()).collect::<Vec<_>>().join(" ")
}

fn check(before: &str, updates: &str, after: &str) {
    let start = list(before);
    let mut value = start.clone();
    let undo = AddMessages::apply(&mut value, delta(updates)).unwrap();
    assert_eq!(contents(&value), after);
    undo.undo(&mut value);
    assert_eq!(value, start, "taken back: {updates}");
    AddMessages::fold(&mut value, delta(updates)).unwrap();
    assert_eq!(contents(&value), after);
    let stored = serde_json::to_string(&delta(updates)).unwrap();
    let mut value = start;
    AddMessages::fold(&mut value, serde_json::from_str(&stored).unwrap()).unwrap();
    assert_eq!(contents(&value), after, "as it is stored");
}

#[test]
fn new_is_appended_and_known_id_is_replaced() {
    check("", "a b", "a b");
    check("a b", "c", "a b c");
    check("a b c", "b=2", "a b=2 c");
    check("a", "b a=2 c", "a=2 b c");
    check("a b", "", "a b");
}

#[test]
fn last_duplicate_wins_at_the_first_place() {
    check("", "a b a=2", "a=2 b");
    check("x", "a=1 x=1 a=2 x=2", "x=2 a=2");
}

#[test]
fn removal_affects_earlier_messages() {
    check("a b c", "-b", "a c");
    check("a b c", "-a -c", "b");
    check("a", "b -b", "a");
    check("a", "-a -a", "");
    check("a b c d e f", "-a -c -e x f=2", "b d f=2 x");
}

#[test]
fn readded_message_keeps_its_place() {
    check("a b c", "-a a=2", "a=2 b c");
    check("a b c", "-b x b=2", "a b=2 c x");
    check("a", "-a a=2 -a", "");
}

#[test]
fn remove_all_drops_everything_before_it() {
    check("a b", "*", "");
    check("a b", "c * d", "d");
    check("a b", "* a=2 * b=2 c", "b=2 c");
    check("a b", "* b=1 b=2", "b=2");
    check("a b", "* c d -c", "d");
    // Errors before `*` do not matter.
    check("a", "-unknown * b", "b");
}

#[test]
fn unknown_removal_is_an_error() {
    for updates in ["-x", "b a=2 -x", "* -a", "-x x"] {
        let mut value = list("a");
        let error = AddMessages::apply(&mut value, delta(updates)).unwrap_err();
        let id = if updates == "* -a" { "a" } else { "x" };
        assert_eq!(
            error.to_string(),
            format!("cannot remove message `{id}`: the list has no message with this id")
        );
        assert_eq!(contents(&value), "a");
    }
}

fn prepared(messages: Vec<Message>, stamp: &Stamp<'_>) -> Vec<Message> {
    let delta = AddMessages::prepare(messages.into_iter().collect(), stamp).unwrap();
    let mut value = Vec::new();
    AddMessages::fold(&mut value, delta).unwrap();
    value
}

#[test]
fn thread_ids_are_deterministic() {
    let stamp = Stamp { thread: Some("t"), ..Stamp::new("n", 3, 2) };
    let three = || vec![Message::human("a"), Message::human("b").with_id("own"), Message::human("c")];
    let value = prepared(three(), &stamp);
    let ids: Vec<_> = value.iter().map(|message| message.id().unwrap()).collect();
    assert_eq!(ids, ["3.2.0.0.n@t", "own", "3.2.0.2.n@t"]);
    assert_eq!(value, prepared(three(), &stamp));
}

#[test]
fn ids_without_a_thread_are_random() {
    let stamp = Stamp::new("n", 3, 2);
    let mut ids = Vec::new();
    for _ in 0..100 {
        ids.extend(prepared(list("a").into_iter().map(|_| Message::ai("x")).collect(), &stamp));
    }
    let ids: BTreeSet<_> = ids.iter().map(|message| message.id().unwrap()).collect();
    assert_eq!(ids.len(), 100);
}

#[test]
fn empty_id_counts_as_missing() {
    let stamp = Stamp { thread: Some("t"), ..Stamp::new("n", 3, 2) };
    let value = prepared(vec![Message::human("a").with_id("")], &stamp);
    assert_eq!(value[0].id(), Some("3.2.0.0.n@t"));
}

#[test]
fn calls_get_ids_and_answers_need_one() {
    let stamp = Stamp { thread: Some("t"), ..Stamp::new("n", 3, 2) };
    let call = |id: &str| crate::messages::ToolCall::new(id, "clock");
    let ai = crate::messages::AiMessage::new("").call(call("")).call(call("own"));
    let ai = ai.invalid_call(crate::messages::InvalidToolCall::new("", "clock", "{"));
    let value = prepared(vec![ai.into()], &stamp);
    let ids: Vec<_> = value[0].as_ai().unwrap().calls().map(|(id, _)| id.to_owned()).collect();
    assert_eq!(ids, ["call_3_2_0_0_0", "own", "call_3_2_0_0_2"]);
    let error = AddMessages::prepare([Message::tool("", "x")].into_iter().collect(), &stamp).unwrap_err();
    assert!(error.to_string().contains("id of the call that it answers"), "{error}");
}
