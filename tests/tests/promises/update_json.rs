//! The JSON of updates.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::collection::{btree_map, btree_set, vec};
use proptest::{option, prelude::*};
use serde_json::json;
use superstep::state::{Input, Update};
use superstep::{GraphState, Overwrite};

#[derive(GraphState, Clone, Debug)]
struct Part {
    #[state(reducer = append, alias = "messages")]
    lines: Vec<String>,
}

#[derive(GraphState, Clone, Debug)]
#[state(rename_all = "camelCase")]
struct Whole {
    plain_text: String,
    maybe: Option<i64>,
    twice: Option<Option<u8>>,
    #[state(reducer = append)]
    notes: Vec<String>,
    #[state(reducer = merge)]
    scores: BTreeMap<String, i32>,
    #[state(reducer = union, rename = "labels")]
    tags: Option<BTreeSet<char>>,
    #[state(reducer = max)]
    best: Option<i32>,
    #[state(exclude)]
    token: String,
    #[state(untracked)]
    client: Option<Arc<std::io::Error>>,
    #[state(serialize_with = debug)]
    state: Option<char>,
    #[state(reducer = max, with = as_text)]
    peak: Option<u8>,
    #[state(flatten)]
    part: Part,
}

mod as_text {
    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::{Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(value: &Option<u8>, serializer: S) -> Result<S::Ok, S::Error> {
        value.map(|value| value.to_string()).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u8>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        text.map(|text| text.parse().map_err(D::Error::custom)).transpose()
    }
}

#[derive(Clone, Debug)]
enum Write {
    PlainText(String),
    Maybe(Option<i64>),
    Notes(Vec<String>),
    Scores(BTreeMap<String, i32>),
    Tags(BTreeSet<char>),
    Best(i32),
    Lines(Vec<String>),
    OverNotes(Vec<String>),
    OverTags(Option<BTreeSet<char>>),
    OverMaybe(Option<i64>),
}

fn writes() -> impl Strategy<Value = Vec<Write>> {
    let text = || "\\PC{0,5}";
    let tags = || btree_set(any::<char>(), 0..3);
    let write = prop_oneof![
        text().prop_map(Write::PlainText),
        option::of(any::<i64>()).prop_map(Write::Maybe),
        vec(text(), 0..3).prop_map(Write::Notes),
        btree_map(text(), any::<i32>(), 0..3).prop_map(Write::Scores),
        tags().prop_map(Write::Tags),
        any::<i32>().prop_map(Write::Best),
        vec(text(), 0..3).prop_map(Write::Lines),
        vec(text(), 0..3).prop_map(Write::OverNotes),
        option::of(tags()).prop_map(Write::OverTags),
        option::of(any::<i64>()).prop_map(Write::OverMaybe),
    ];
    vec(write, 0..12)
}

fn update(writes: &[Write]) -> WholeUpdate {
    writes.iter().cloned().fold(Whole::update(), |update, write| match write {
        Write::PlainText(value) => update.plain_text(value),
        Write::Maybe(value) => update.maybe(value),
        Write::Notes(value) => update.notes(value),
        Write::Scores(value) => update.scores(value),
        Write::Tags(value) => update.tags(value),
        Write::Best(value) => update.best(value),
        Write::Lines(value) => update.part(Part::update().lines(value)),
        Write::OverNotes(value) => update.notes(Overwrite(value)),
        Write::OverTags(value) => update.tags(Overwrite(value)),
        Write::OverMaybe(value) => update.maybe(Overwrite(value)),
    })
}

/// The writes sorted by field. The order between fields is not significant.
fn by_field(update: &WholeUpdate) -> Vec<String> {
    let mut writes: Vec<String> =
        format!("{update:#?}").lines().map(|line| line.trim().trim_end_matches(',').to_owned()).collect();
    writes.sort_by_key(|line| line.split(':').next().map(str::to_owned));
    writes
}

proptest! {
    #[test]
    fn updates_round_trip_through_json(writes in writes()) {
        let update = update(&writes);
        let text = serde_json::to_string(&update).unwrap();
        let back: WholeUpdate = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(by_field(&back), by_field(&update));
        prop_assert_eq!(back.get(Whole::NOTES), update.get(Whole::NOTES));
        prop_assert_eq!(back.get(Whole::TAGS), update.get(Whole::TAGS));
        prop_assert_eq!(back.get(Whole::MAYBE), update.get(Whole::MAYBE));
        prop_assert_eq!(serde_json::to_value(&back).unwrap(), serde_json::to_value(&update).unwrap());
    }
}

#[track_caller]
fn check(update: WholeUpdate, expected: &str) {
    assert_eq!(serde_json::to_string(&update).unwrap(), expected);
}

#[test]
fn second_write_to_a_field_starts_another_object() {
    check(Whole::update(), "{}");
    check(Whole::update().maybe(1).plain_text("x"), r#"{"maybe":1,"plainText":"x"}"#);
    check(
        Whole::update().notes(["a".to_owned()]).notes(Overwrite(vec![])).best(1).notes(["b".to_owned()]),
        r#"[{"notes":["a"],"best":1},{"$overwrite":{"notes":[]}},{"notes":["b"]}]"#,
    );
}

#[test]
fn flattened_fields_are_on_the_same_level() {
    check(
        Whole::update().maybe(1).part(Part::update().lines(["a".to_owned()])),
        r#"{"maybe":1,"lines":["a"]}"#,
    );
    let update = WholeUpdate::from_json(json!({"messages": ["a"]})).unwrap();
    check(update, r#"{"lines":["a"]}"#);
}

#[test]
fn option_can_be_set_to_none() {
    let update = WholeUpdate::from_json(json!({"maybe": null})).unwrap();
    assert_eq!(update.get(Whole::MAYBE), Some(&None));
    assert_eq!(WholeUpdate::from_json(json!({})).unwrap().get(Whole::MAYBE), None);
}

#[test]
fn excluded_and_untracked_fields_are_never_written() {
    let client = Arc::new(std::io::Error::other("hunter2"));
    let update = Whole::update().token("hunter2").client(client).best(1);
    check(update.clone(), r#"{"best":1}"#);
    assert_eq!(format!("{update:?}"), "WholeUpdate { token: .., client: .., best: 1 }");
}

#[test]
fn excluded_fields_are_read_and_untracked_ones_refused() {
    let update = WholeUpdate::from_json(json!({"token": "hunter2"})).unwrap();
    assert_eq!(update.get(Whole::TOKEN), Some(&"hunter2".to_owned()));
    let error = WholeUpdate::from_json(json!({"client": null})).unwrap_err();
    assert!(
        error.to_string().starts_with("the update of `Whole` has 1 problem\n  $.client: unknown field"),
        "{error}"
    );
}

#[test]
fn write_only_fields_are_refused_in_json() {
    check(Whole::update().state('x'), r#"{"state":"'x'"}"#);
    assert!(WholeUpdate::from_json(json!({"state": "'x'"})).is_err());
}

#[test]
fn field_functions_apply_to_updates() {
    let update = Whole::update().peak(3).peak(Overwrite(None));
    check(update.clone(), r#"[{"peak":"3"},{"$overwrite":{"peak":null}}]"#);
    let back = WholeUpdate::from_json(serde_json::to_value(&update).unwrap()).unwrap();
    assert_eq!(by_field(&back), by_field(&update));
    let error = WholeUpdate::from_json(json!({"peak": "300"})).unwrap_err();
    assert_eq!(error.problems()[0].to_string(), "$.peak: number too large to fit in target type");
}

#[test]
fn update_error_lists_every_problem_with_its_path() {
    let error = WholeUpdate::from_json(json!([
        {"notes": ["a", 1], "scores": {"a b": "x"}, "$overwrite": {"labels": ["ab"]}},
        {"note": ["a"], "lines": 1, "token": ["hunter2"]},
        "maybe",
    ]))
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the update of `Whole` has 7 problems
  $[0].notes[1]: invalid type: integer `1`, expected a string
  $[0].scores[\"a b\"]: invalid type: string \"x\", expected i32
  $[0][\"$overwrite\"].labels[0]: invalid value: string \"ab\", expected a character
  $[1].lines: invalid type: integer `1`, expected a sequence
  $[1].note: unknown field; did you mean `notes`?
  $[1].token: the value does not fit (details are withheld because the field is excluded)
  $[2]: expected an object with fields of `Whole`, found a string"
    );
}

#[derive(GraphState, Clone)]
struct Moved {
    #[state(alias = "zip")]
    code: u32,
    #[state(flatten)]
    place: Place,
}

#[derive(GraphState, Clone)]
struct Place {
    #[state(reducer = append, alias = "road")]
    street: String,
}

#[test]
fn two_names_of_one_field_are_an_error() {
    let twice = json!({"code": 1, "zip": 2, "street": "a", "road": "b"});
    let input = MovedInput::from_json(twice.clone()).unwrap_err();
    let update = MovedUpdate::from_json(twice).unwrap_err();
    assert_eq!(
        update.to_string(),
        "the update of `Moved` has 2 problems
  $.street: the same field as `road`, which is also given
  $.zip: the same field as `code`, which is also given"
    );
    assert_eq!(input.problems().len(), 2);
    let after_each_other = json!([{"code": 1, "$overwrite": {"road": "b"}}, {"zip": 2, "street": "a"}]);
    assert_eq!(MovedUpdate::from_json(after_each_other).unwrap().get(Moved::CODE), Some(&2));
}
