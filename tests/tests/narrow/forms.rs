//! The fields of a narrow update, and the values that they take.

use std::collections::BTreeMap;

use superstep::state::{IntoUpdate, Update};
use superstep::{ErrorKind, GraphState, Overwrite, StateUpdate};

#[derive(GraphState, Clone, Debug, PartialEq)]
struct Chat {
    #[state(reducer = append)]
    lines: Vec<String>,
    topic: String,
}

fn longest(value: &mut String, text: &'static str) {
    if text.len() > value.len() {
        text.clone_into(value);
    }
}

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(input)]
    question: String,
    answer: Option<String>,
    #[state(reducer = append, rename = "remarks")]
    notes: Vec<String>,
    #[state(reducer = add)]
    cost: u32,
    #[state(reducer = merge)]
    tags: BTreeMap<String, u8>,
    #[state(untracked, reducer = longest, takes = &'static str)]
    title: String,
    #[state(validate(range(max = 5)))]
    priority: u8,
    #[state(exclude)]
    account: u64,
    r#type: String,
    #[state(flatten)]
    chat: Chat,
}

fn ticket() -> Ticket {
    Ticket::started(Ticket::input("why?")).unwrap()
}

#[derive(StateUpdate)]
#[update(of = Ticket)]
struct Everything {
    question: &'static str,
    answer: Option<String>,
    notes: [String; 1],
    cost: u32,
    tags: BTreeMap<String, u8>,
    title: &'static str,
    priority: u8,
    #[update(to = account)]
    number: u64,
    r#type: String,
}

#[test]
fn update_writes_what_the_setters_write() {
    let narrow = Everything {
        question: "how?",
        answer: Some("so".to_owned()),
        notes: ["read".to_owned()],
        cost: 3,
        tags: BTreeMap::from([("a".to_owned(), 1)]),
        title: "long",
        priority: 2,
        number: 7,
        r#type: "invoice".to_owned(),
    };
    let whole = Ticket::update()
        .question("how?")
        .answer(Some("so".to_owned()))
        .notes(["read".to_owned()])
        .cost(3)
        .tags([("a".to_owned(), 1)])
        .title("long")
        .priority(2)
        .account(7)
        .r#type("invoice".to_owned());
    let narrow: TicketUpdate = IntoUpdate::<Ticket>::into_update(narrow);
    assert_eq!(format!("{narrow:?}"), format!("{whole:?}"));
    assert_eq!(
        narrow.field_names().collect::<Vec<_>>(),
        ["question", "answer", "remarks", "cost", "tags", "title", "priority", "account", "type"]
    );
    let ticket = ticket().updated(narrow).unwrap();
    assert_eq!((ticket.title.as_str(), ticket.account, ticket.r#type.as_str()), ("long", 7, "invoice"));
}

#[test]
fn write_set_has_the_names_in_json() {
    let names = ["question", "answer", "remarks", "cost", "tags", "title", "priority", "account", "type"];
    assert_eq!(Everything::WRITES.names(), names);
    assert_eq!(Sorted::WRITES.names(), ["priority", "lines"]);
    assert_eq!(Nothing::WRITES.names(), [""; 0]);
    // The whole update of the flattened state can write any of its fields.
    assert_eq!(Spoken::WRITES.names(), ["priority"]);
}

#[derive(StateUpdate)]
#[update(of = Ticket)]
struct Nothing {}

#[derive(StateUpdate)]
#[update(of = Ticket)]
struct Short {
    answer: &'static str,
}

#[test]
fn option_of_the_state_takes_the_value_itself() {
    let ticket = ticket().updated(Short { answer: "yes" }).unwrap();
    assert_eq!(ticket.answer.as_deref(), Some("yes"));
    assert!(IntoUpdate::<Ticket>::into_update(Nothing {}).is_empty());
}

#[derive(StateUpdate)]
#[update(of = Chat)]
struct Said {
    lines: Vec<String>,
}

#[derive(StateUpdate, Default)]
#[update(of = Ticket)]
struct Sorted {
    #[update(skip_none)]
    priority: Option<u8>,
    #[update(flatten, skip_none)]
    chat: Option<Said>,
}

#[derive(StateUpdate)]
#[update(of = Ticket)]
struct Spoken {
    priority: u8,
    #[update(flatten)]
    chat: ChatUpdate,
}

#[test]
fn none_that_is_skipped_writes_nothing() {
    assert!(IntoUpdate::<Ticket>::into_update(Sorted::default()).is_empty());
    let sorted = Sorted { priority: Some(4), chat: Some(Said { lines: vec!["hello".to_owned()] }) };
    let ticket = ticket().updated(sorted).unwrap();
    assert_eq!((ticket.priority, ticket.chat.lines.as_slice()), (4, ["hello".to_owned()].as_slice()));
}

#[test]
fn flattened_state_takes_a_narrow_or_a_whole_update() {
    let spoken = Spoken { priority: 1, chat: Chat::update().topic("rain").lines(["a".to_owned()]) };
    let ticket = ticket().updated(spoken).unwrap();
    assert_eq!(ticket.chat, Chat { lines: vec!["a".to_owned()], topic: "rain".to_owned() });
    let ticket = ticket.updated(Said { lines: vec!["b".to_owned()] }).unwrap();
    assert_eq!(ticket.chat.lines, ["a", "b"]);
}

#[derive(StateUpdate)]
#[update(of = Ticket)]
struct Cleared {
    notes: Overwrite<Vec<String>>,
    cost: Overwrite<u32>,
    title: Overwrite<String>,
}

#[test]
fn overwrite_bypasses_the_reducer() {
    let full = Ticket::update().notes(["a".to_owned()]).cost(3).title("longer");
    let cleared = Cleared { notes: Overwrite(vec![]), cost: Overwrite(1), title: Overwrite("x".to_owned()) };
    let ticket = ticket().updated(full).unwrap().updated(cleared).unwrap();
    assert_eq!((ticket.notes.len(), ticket.cost, ticket.title.as_str()), (0, 1, "x"));
}

#[test]
fn rules_hold_for_a_narrow_update() {
    let error = ticket().updated(Sorted { priority: Some(6), chat: None }).err().unwrap();
    assert!(matches!(error.kind(), ErrorKind::Validation { .. }), "{error}");
    assert!(error.to_string().contains("priority"), "{error}");
}

#[derive(GraphState, Clone)]
struct Slot<T>
where
    T: Clone + Send + Sync + Default + 'static,
{
    #[state(untracked)]
    value: T,
    #[state(untracked, reducer = append)]
    items: Vec<T>,
}

#[derive(StateUpdate)]
#[update(of = Slot<T>)]
struct Put<T, const N: usize>
where
    T: Clone + Send + Sync + Default + 'static,
{
    value: T,
    items: [T; N],
}

#[derive(StateUpdate)]
#[update(of = Ticket)]
struct Asked<'a> {
    question: &'a str,
}

#[test]
fn generic_update_of_a_generic_state() {
    let slot = Slot::started(Slot::<u8>::input()).unwrap().updated(Put { value: 1, items: [2, 3] }).unwrap();
    assert_eq!((slot.value, slot.items), (1, vec![2, 3]));
    assert_eq!(Put::<u8, 2>::WRITES.names(), ["value", "items"]);
}

#[test]
fn update_may_borrow_outside_of_nodes() {
    let question = String::from("when?");
    let ticket = ticket().updated(Asked { question: &question }).unwrap();
    assert_eq!(ticket.question, question);
}
