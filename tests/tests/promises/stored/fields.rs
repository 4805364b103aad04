use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use superstep::GraphState;
use superstep::checkpoint::ChangeKind;
use superstep::payload::{Encoding, Payload};
use superstep::reducers::StoredAs;
use superstep::state::Restore;

use super::{all_fields, encoded, field, json, restored, value};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Mood {
    Calm,
    Loud(f32),
    Mixed { parts: Vec<(String, Option<u8>)> },
}

/// A type without `Serialize` that field functions store.
#[derive(Clone, Debug, Default, PartialEq)]
struct Hex(u64);

mod hex {
    use super::*;

    pub(super) fn serialize<S: Serializer>(hex: &Hex, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:x}", hex.0))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Hex, D::Error> {
        let text = String::deserialize(deserializer)?;
        u64::from_str_radix(&text, 16).map(Hex).map_err(serde::de::Error::custom)
    }
}

#[derive(GraphState, Clone, Debug, PartialEq)]
struct Chat {
    #[state(reducer = append)]
    lines: Vec<String>,
    #[state(exclude, default = 3)]
    secret: u64,
}

#[derive(GraphState, Clone, Debug, PartialEq)]
struct Case {
    #[state(input)]
    question: String,
    #[state(rename = "Score", reducer = max)]
    score: Option<f64>,
    mood: Option<Mood>,
    #[state(flatten)]
    chat: Chat,
    #[state(reducer = merge)]
    by_year: BTreeMap<i32, Vec<u128>>,
    #[state(reducer = union)]
    tags: HashSet<char>,
    #[state(with = hex)]
    id: Hex,
    #[state(serialize_with = display)]
    shown_only: u8,
    #[state(untracked, default = Arc::new(7))]
    connection: Arc<u8>,
}

fn case() -> Case {
    Case {
        question: "größe \u{0} \"🦀\"".to_owned(),
        score: Some(f64::MIN_POSITIVE),
        mood: Some(Mood::Mixed { parts: vec![("a".to_owned(), None), (String::new(), Some(3))] }),
        chat: Chat { lines: vec!["one".to_owned(), "two".to_owned()], secret: 4711 },
        by_year: BTreeMap::from([(-5, vec![u128::MAX, 0]), (2026, vec![])]),
        tags: HashSet::from(['é', '"']),
        id: Hex(0xdead_beef),
        shown_only: 0,
        connection: Arc::new(7),
    }
}

#[test]
fn every_field_round_trips() {
    let case = case();
    assert_eq!(restored::<Case>(all_fields(&case)).unwrap(), case);
    for mood in [Some(Mood::Calm), Some(Mood::Loud(f32::MAX)), None] {
        let case = Case { mood, ..case.clone() };
        assert_eq!(restored::<Case>(all_fields(&case)).unwrap(), case);
    }
}

#[test]
fn excluded_fields_and_field_functions_are_stored() {
    let case = case();
    assert_eq!(json(&encoded(&case, 5).unwrap().unwrap()), "\"deadbeef\"");
    let secret = (0..Case::FIELD_COUNT).find(|&index| Case::field(index).unwrap().name == "secret").unwrap();
    assert_eq!(json(&encoded(&case, secret).unwrap().unwrap()), "4711");
}

#[test]
fn unreadable_fields_are_not_stored() {
    let names: Vec<String> = all_fields(&case()).into_iter().map(|field| field.field).collect();
    assert_eq!(names, ["question", "Score", "mood", "by_year", "tags", "id", "lines", "secret"]);
    assert_eq!(encoded(&case(), 99).unwrap(), None);
}

#[test]
fn reducer_determines_how_a_field_is_stored() {
    let stored = |name: &str| {
        let specs = (0..Case::FIELD_COUNT).filter_map(Case::field);
        specs.into_iter().find(|spec| spec.name == name).unwrap().stored
    };
    for delta in ["by_year", "tags"] {
        assert_eq!(stored(delta), Some(StoredAs::Delta), "{delta}");
    }
    assert_eq!(stored("lines"), Some(StoredAs::Appended));
    for value in ["question", "Score", "mood", "id", "secret"] {
        assert_eq!(stored(value), Some(StoredAs::Value), "{value}");
    }
    assert_eq!((stored("shown_only"), stored("connection")), (None, None));
}

#[test]
fn missing_fields_start_with_defaults_and_are_reported() {
    let mut restore = Restore::new(vec![field("question", [value(1, "\"why?\"")])]);
    let case = Case::__restore(&mut restore).unwrap();
    assert_eq!((case.chat.secret, *case.connection, case.mood), (3, 7, None));
    let names: Vec<_> = restore.defaulted().iter().map(|&index| Case::field(index).unwrap().name).collect();
    assert_eq!(names, ["Score", "mood", "lines", "secret", "by_year", "tags", "id"]);
}

#[test]
fn missing_required_field_error_suggests_a_fix() {
    assert_eq!(
        restored::<Case>(vec![]).unwrap_err().to_string(),
        "field `question` cannot be read: no value is stored for it, and it has no start value: give it one with \
         `#[state(default = ..)]`, make it an `Option`, or insert it in a migration"
    );
}

#[test]
fn unknown_field_names_are_ignored() {
    let mut fields = all_fields(&case());
    fields.push(field("dropped", [value(1, "{\"not\": \"read")]));
    fields.push(field("connection", [value(1, "9")]));
    assert_eq!(restored::<Case>(fields).unwrap(), case());
}

#[test]
fn read_error_names_field_checkpoint_and_cause() {
    let mut fields = all_fields(&case());
    fields.iter_mut().find(|field| field.field == "tags").unwrap().changes[0].payload = Payload::json("[1]");
    assert_eq!(
        restored::<Case>(fields).unwrap_err().to_string(),
        "field `tags` cannot be read from checkpoint 01040G2081040G2081040G2081: \
         invalid type: integer `1`, expected a character at line 1 column 2"
    );
}

#[test]
fn trailing_characters_are_an_error() {
    let error = restored::<Case>(vec![field("question", [value(1, "\"a\" \"b\"")])]).unwrap_err();
    assert!(error.to_string().contains("trailing characters"), "{error}");
}

#[test]
fn encrypted_value_is_not_read_as_plain() {
    let sealed = Payload::new(Encoding::Sealed, *b"\"a\"");
    let error = restored::<Case>(vec![field("question", [(1, ChangeKind::Value, sealed)])]).unwrap_err();
    assert!(error.to_string().contains("encrypted"), "{error}");
}

#[derive(GraphState, Clone, Debug, PartialEq)]
struct Boxed<T: Clone + Send + Sync + Default + Serialize + serde::de::DeserializeOwned + 'static> {
    #[state(reducer = append)]
    all: Vec<T>,
    one: Option<T>,
}

#[test]
fn generic_state_round_trips() {
    let boxed = Boxed { all: vec![1_u8, 2], one: Some(3) };
    assert_eq!(restored::<Boxed<u8>>(all_fields(&boxed)).unwrap(), boxed);
    assert_eq!(Boxed::<u8>::field(0).unwrap().stored, Some(StoredAs::Appended));
}
