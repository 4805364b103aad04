use super::*;
use crate::messages::Message;

fn list(ids: &str) -> Vec<Message> {
    ids.split_whitespace().map(|id| Message::human(id).with_id(id.split('=').next().unwrap_or(id))).collect()
}

/// Parses an update: `a=x` puts a message `a=x` with the id `a`, `>a=x` adds it, `-a` removes it, `*` removes all.
fn delta(updates: &str) -> MessagesDelta {
    let one = |word: &str| match word.strip_prefix('-') {
        Some(id) => MessageUpdate::from(Remove::id(id)),
        None if word == "*" => Remove::all().into(),
        None => match word.strip_prefix('>') {
            Some(word) => MessageUpdate::Add(list(word).remove(0).into()),
            None => list(word).remove(0).into(),
        },
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

#[test]
fn message_of_a_client_replaces_nothing() {
    check("a b", ">c", "a b c");
    check("a b", ">a >c", "a b c");
    check("", ">a=1 >a=2", "a=2");
    check("a", "* >a=2", "a=2");
    for updates in [">a=2", ">b=2 >a=2", "a=2 >a=3"] {
        let mut value = list("a");
        let error = AddMessages::apply(&mut value, delta(updates)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a client cannot change message `a`: send a new message without an id, or change it with an update"
        );
        assert_eq!(contents(&value), "a");
    }
}

#[test]
fn client_cannot_choose_a_generated_id() {
    let [message] = <[Message; 1]>::try_from(prepared(vec!["a".into()], &STAMP)).unwrap();
    let id = message.id().unwrap().to_owned();
    let added = |value: &mut Vec<Message>| {
        let update = MessagesUpdate::of_client([message.clone()]);
        AddMessages::fold(value, AddMessages::prepare(update, &STAMP).unwrap())
    };
    // A conversation can begin with the history of an earlier one.
    let mut value = Vec::new();
    added(&mut value).unwrap();
    added(&mut value).unwrap();
    assert_eq!(value.len(), 1);
    let mut other = list("b");
    let error = added(&mut other).unwrap_err().to_string();
    assert!(error.starts_with(&format!("a client cannot choose the id `{id}`")), "{error}");
}

fn prepared(messages: Vec<Message>, stamp: &Stamp<'_>) -> Vec<Message> {
    let delta = AddMessages::prepare(messages.into_iter().collect(), stamp).unwrap();
    let mut value = Vec::new();
    AddMessages::fold(&mut value, delta).unwrap();
    value
}

const STAMP: Stamp<'static> = Stamp { thread: Some("t"), step: 3, node: "n", index: 2, write: 0 };

#[test]
fn generated_ids_are_random() {
    let mut ids = Vec::new();
    for stamp in [STAMP, Stamp::new("n", 3, 2)] {
        for _ in 0..50 {
            ids.extend(prepared(vec![Message::ai("x"), Message::ai("x")], &stamp));
        }
    }
    let ids: BTreeSet<_> = ids.iter().map(|message| message.id().unwrap()).collect();
    assert_eq!(ids.len(), 200);
    assert!(ids.iter().all(|id| is_generated(id)), "{ids:?}");
}

#[test]
fn missing_and_empty_ids_are_generated() {
    let value = prepared(vec!["a".into(), Message::human("b").with_id("own"), "c".into()], &STAMP);
    let generated: Vec<bool> = value.iter().map(|message| is_generated(message.id().unwrap())).collect();
    assert_eq!(generated, [true, false, true]);
    assert!(is_generated(prepared(vec![Message::human("a").with_id("")], &STAMP)[0].id().unwrap()));
}

#[test]
fn new_message_always_gets_an_id() {
    let update = MessageUpdate::New(Message::human("a").with_id("own").into());
    let delta = AddMessages::prepare(MessagesUpdate(vec![update.clone(), update]), &STAMP).unwrap();
    let mut value = list("own");
    AddMessages::fold(&mut value, delta).unwrap();
    assert_eq!(value.len(), 3);
    assert!(value[1..].iter().all(|message| is_generated(message.id().unwrap())));
}

#[test]
fn delta_is_read_back_unchanged() {
    let known = Message::ai("b").with_id("b");
    let updates = vec![
        Remove::all().into(),
        "new".into(),
        known.clone().into(),
        MessageUpdate::Add(known.into()),
        Remove::id("b").into(),
    ];
    let delta = AddMessages::prepare(MessagesUpdate(updates), &STAMP).unwrap();
    let stored = serde_json::to_string(&delta).unwrap();
    assert_eq!(serde_json::from_str::<MessagesDelta>(&stored).unwrap(), delta, "{stored}");
    let mut marked = Message::human("a");
    let Message::Human(human) = &mut marked else { unreachable!() };
    human.extra.insert("$id".to_owned(), "new".into());
    let error = AddMessages::prepare([marked].into_iter().collect(), &STAMP).unwrap_err();
    assert_eq!(error.to_string(), "a message cannot have an entry `$id` of its own: rename it");
}

#[test]
fn calls_get_ids_and_answers_need_one() {
    let call = |id: &str| crate::messages::ToolCall::new(id, "clock");
    let ai = crate::messages::AiMessage::new("").call(call("")).call(call("own"));
    let ai = ai.invalid_call(crate::messages::InvalidToolCall::new("", "clock", "{"));
    let value = prepared(vec![ai.into()], &STAMP);
    let ids: Vec<_> = value[0].as_ai().unwrap().calls().map(|(id, _)| id.to_owned()).collect();
    let [first, own, last] = <[String; 3]>::try_from(ids).unwrap();
    assert_eq!(own, "own");
    assert_ne!(first, last);
    assert!(first.starts_with("call_") && first.len() <= 40, "{first}");
    let error = AddMessages::prepare([Message::tool("", "x")].into_iter().collect(), &STAMP).unwrap_err();
    assert!(error.to_string().contains("id of the call that it answers"), "{error}");
}
