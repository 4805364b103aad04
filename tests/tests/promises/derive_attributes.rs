//! Field attributes in dumps, updates, inputs, outputs and start values.

use std::fmt::{self, Display};
use std::sync::Arc;

use serde_json::json;
use superstep::GraphState;
use superstep::state::{Input, Update};

/// Implements neither `Serialize` nor `Default`.
#[derive(Clone, Debug, PartialEq)]
struct Client(u8);

impl Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "client {}", self.0)
    }
}

fn connect(port: &u8) -> Client {
    Client(*port)
}

mod hex {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(value: &u32, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{value:x}"))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
        u32::from_str_radix(&String::deserialize(deserializer)?, 16).map_err(D::Error::custom)
    }
}

fn loud<S: serde::Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&text.to_uppercase())
}

fn ten() -> u8 {
    10
}

#[derive(GraphState, Clone, Debug)]
struct Attributes {
    #[state(untracked, default = Client(1), from_context = connect)]
    client: Client,
    #[serde(skip)]
    skipped: Option<Client>,
    #[state(exclude)]
    secret: u8,
    #[serde(skip_serializing)]
    hidden: u8,
    #[state(serialize_with = display)]
    last_error: Option<Arc<Client>>,
    #[state(serialize_with = debug, default = Client(2))]
    shown: Client,
    #[state(with = hex)]
    color: u32,
    #[serde(with = "hex")]
    shade: u32,
    #[state(serialize_with = loud, deserialize_with = serde::Deserialize::deserialize)]
    text: String,
    #[serde(deserialize_with = "hex::deserialize")]
    read: u32,
    #[state(default = 3 + 4)]
    expression: u8,
    #[serde(default = "ten")]
    path: u8,
    #[serde(default)]
    plain: u8,
}

fn start() -> Attributes {
    Attributes::input().into_start().state
}

#[test]
fn new_run_starts_with_the_defaults() {
    let state = start();
    assert_eq!((state.client, state.shown), (Client(1), Client(2)));
    assert_eq!((state.expression, state.path, state.plain), (7, 10, 0));
}

#[test]
fn dump_uses_field_functions_and_omits_hidden_fields() {
    let state = Attributes {
        secret: 9,
        last_error: Some(Arc::new(Client(5))),
        color: 255,
        text: "a".to_owned(),
        skipped: Some(Client(0)),
        ..start()
    };
    assert_eq!(
        state.dump().to_json().unwrap(),
        json!({
            "last_error": "client 5", "shown": "Client(2)", "color": "ff", "shade": "0", "text": "A",
            "read": 0, "expression": 7, "path": 10, "plain": 0
        })
    );
}

#[test]
fn update_is_serialized_by_the_same_functions() {
    let update = Attributes::update()
        .client(Client(1))
        .secret(1)
        .last_error(Arc::new(Client(3)))
        .color(16_u32)
        .text("b")
        .read(16_u32);
    let value = serde_json::to_value(&update).unwrap();
    assert_eq!(value, json!({"last_error": "client 3", "color": "10", "text": "B", "read": 16}));
    let read = AttributesUpdate::from_json(json!({"color": "11", "read": "12", "secret": 2, "hidden": 3}));
    let read = read.unwrap();
    assert_eq!(read.get(Attributes::COLOR), Some(&17));
    assert_eq!(read.get(Attributes::READ), Some(&18));
    assert_eq!((read.get(Attributes::SECRET), read.get(Attributes::HIDDEN)), (Some(&2), Some(&3)));
}

#[test]
fn unreadable_fields_are_not_accepted_in_json() {
    for name in ["client", "skipped", "last_error", "shown"] {
        let error = AttributesUpdate::from_json(json!({(name): 1})).unwrap_err();
        assert_eq!(error.problems()[0].path, format!("$.{name}"));
    }
}

#[test]
fn context_rebuilds_untracked_fields() {
    let mut state = start();
    state.rebuild_untracked(&80_u8).unwrap();
    assert_eq!(state.client, Client(80));
    assert_eq!(state.rebuild_untracked(&"no port").unwrap_err().name, "client");
}

#[derive(GraphState, Clone)]
struct Inputs {
    #[state(input)]
    required: String,
    #[state(input)]
    option: Option<String>,
    #[state(input)]
    std_option: std::option::Option<u8>,
    #[state(input, default = 3)]
    defaulted: u8,
    #[state(input, reducer = append)]
    folded: Vec<u8>,
    #[state(input, untracked)]
    client: Arc<str>,
    internal: u8,
}

#[test]
fn input_requires_only_fields_without_start_value() {
    let start = Inputs::input("a", "client").option("b").std_option(1).folded([1]).folded([2]).into_start();
    assert_eq!((&*start.state.required, &*start.state.client), ("a", "client"));
    assert_eq!((start.state.defaulted, start.state.internal), (3, 0));
    assert_eq!(start.given, [Inputs::REQUIRED.index(), Inputs::CLIENT.index()]);
    assert_eq!(start.update.get(Inputs::OPTION), Some(&Some("b".to_owned())));
    let folded: Vec<_> = start.update.values::<Vec<u8>>(Inputs::FOLDED).collect();
    assert_eq!(folded, [&[1], &[2]]);
}

#[test]
fn input_converts_to_an_update_of_all_given_fields() {
    let update = Inputs::input("a", "client").defaulted(4).into_update();
    let names: Vec<_> = update.field_names().collect();
    assert_eq!(names, ["required", "client", "defaulted"]);
}

#[test]
fn untracked_required_input_cannot_come_from_json() {
    let error = InputsInput::from_json(json!({"required": "a"})).unwrap_err();
    assert_eq!(error.problems()[0].path, "$.client", "{error}");
}

#[derive(GraphState, Clone)]
struct Outputs {
    question: String,
    /// The answer.
    #[state(output, rename = "reply")]
    answer: Option<String>,
    #[state(output, serialize_with = display, default = Client(7))]
    client: Client,
}

#[test]
fn output_contains_the_fields_marked_output() {
    let output = Outputs { answer: Some("42".into()), ..Outputs::input().into_start().state }.output();
    assert_eq!(output.answer.as_deref(), Some("42"));
    assert_eq!(output.client, Client(7));
    assert_eq!(serde_json::to_string(&output).unwrap(), r#"{"reply":"42","client":"client 7"}"#);
    assert_eq!(format!("{:?}", output.clone()), r#"{"reply":"42","client":"client 7"}"#);
}

#[test]
fn output_is_the_state_without_output_fields() {
    let state: Attributes = start().output();
    assert_eq!(state.expression, 7);
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
struct Place(u8, u8);

#[derive(GraphState, Clone)]
struct Unwritable {
    #[state(output)]
    by_place: std::collections::BTreeMap<Place, u8>,
}

#[test]
fn output_that_json_cannot_represent_has_debug() {
    let by_place = std::collections::BTreeMap::from([(Place(1, 2), 3)]);
    let text = format!("{:?}", Unwritable { by_place }.output());
    assert!(text.contains("key must be a string"), "{text}");
}
