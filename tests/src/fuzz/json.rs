//! Inputs and updates as JSON.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use superstep::state::Input as _;
use superstep::{GraphState, messages::Message};

/// A value with every shape that serde has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Shape {
    Unit,
    Newtype(f32),
    Tuple(i8, Option<char>),
    Struct { text: String, inner: Option<Box<Shape>> },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Untagged {
    Number(f32),
    List(Vec<Untagged>),
    Named {
        name: String,
        #[serde(flatten)]
        rest: BTreeMap<String, f32>,
    },
}

#[derive(GraphState, Clone, Debug)]
pub(super) struct Part {
    #[state(input, reducer = max)]
    pub(super) most: Option<u64>,
    #[state(input, exclude)]
    pub(super) secret: Option<String>,
}

#[derive(GraphState, Clone, Debug)]
pub(super) struct Everything {
    #[state(input, alias = "title")]
    pub(super) name: String,
    #[state(input, validate(range(min = -1.0)))]
    pub(super) number: f32,
    #[state(input)]
    pub(super) shape: Option<Shape>,
    #[state(input)]
    pub(super) untagged: Option<Untagged>,
    #[state(input, reducer = append)]
    pub(super) list: Vec<Option<i64>>,
    #[state(input, reducer = merge)]
    pub(super) map: BTreeMap<u16, f64>,
    #[state(input, reducer = union)]
    pub(super) set: BTreeSet<String>,
    #[state(input, reducer = add)]
    pub(super) sum: i32,
    #[state(input, reducer = add_messages)]
    pub(super) messages: Vec<Message>,
    #[state(input)]
    pub(super) free: Option<serde_json::Value>,
    #[state(flatten)]
    pub(super) part: Part,
}

/// Every value of a state that was read from JSON can be stored and dumped.
fn check(state: &Everything) {
    assert!(state.number.is_finite());
    superstep::payload::to_payload(&state.untagged).unwrap();
    superstep::payload::to_payload(&state.shape).unwrap();
    let dump = serde_json::to_value(state).unwrap();
    assert!(dump.is_object());
}

pub(super) fn input(bytes: &[u8]) {
    let Ok(value) = serde_json::from_slice::<serde_json::Value>(bytes) else { return };
    match EverythingInput::from_json(value) {
        Err(error) => {
            assert!(!error.problems().is_empty());
            assert!(error.to_string().len() < 1 << 21);
        }
        Ok(input) => {
            // An input is dumped as JSON that is an input.
            let dumped = serde_json::to_value(&input).unwrap();
            let _ = format!("{input:?}");
            if let Ok(state) = Everything::started(input) {
                check(&state);
            }
            let again = EverythingInput::from_json(dumped);
            assert!(again.is_ok(), "the dump of an input is not an input: {again:?}");
        }
    }
}

pub(super) fn update(bytes: &[u8]) {
    match serde_json::from_slice::<EverythingUpdate>(bytes) {
        Err(error) => assert!(error.to_string().len() < 1 << 21),
        Ok(update) => {
            // Compared as values: the order of the fields may differ.
            let dumped = serde_json::to_value(&update).unwrap();
            let again: EverythingUpdate = serde_json::from_value(dumped.clone()).unwrap();
            assert_eq!(serde_json::to_value(&again).unwrap(), dumped);
            let state = Everything::started(Everything::input("x", 0.0)).unwrap();
            match state.updated(update) {
                Ok(state) => check(&state),
                Err(error) => assert!(!format!("{error:?}").is_empty()),
            }
        }
    }
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    [
        r#"{"name":"a","number":1.5,"shape":{"Struct":{"text":"t","inner":{"Tuple":[-1,"é"]}}},"list":[1,null],
            "map":{"1":2.5},"set":["a","b"],"sum":-3,"messages":["hi",{"role":"ai","content":"there","id":"1"}],
            "free":{"a":[1,{"b":null}]},"most":18446744073709551615,"secret":"s"}"#,
        r#"{"title":"a","number":-1,"untagged":[1,{"name":"n","x":2}],"shape":"Unit"}"#,
        r#"[{"list":[1]},{"list":[2],"$overwrite":{"map":{"7":1e308},"sum":4}}]"#,
        r#"{"messages":[{"type":"remove","id":"x"},{"type":"remove_all"}],"untagged":1e300}"#,
        r#"{"nme":"a","number":"x","list":{},"sum":1e10,"map":{"-1":0}}"#,
    ]
    .map(|text| text.as_bytes().to_vec())
    .into()
}
