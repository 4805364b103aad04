//! Validation rules on fields.

use std::collections::{BTreeMap, HashSet};

use superstep::GraphState;
use superstep::state::validate::Report;

fn even(value: &u32) -> Result<(), String> {
    if value.is_multiple_of(2) { Ok(()) } else { Err(format!("{value} is odd")) }
}

fn fits(state: &Rules) -> Result<(), &'static str> {
    let few = state.names.as_ref().is_none_or(|names| names.len() < 3);
    if few { Ok(()) } else { Err("too many names") }
}

#[derive(GraphState, Clone, Debug, Default)]
#[state(invariant = fits)]
struct Rules {
    #[state(validate(length(max = 5)))]
    text: String,
    #[state(validate(length(min = 1, max = 2)))]
    names: Option<Vec<String>>,
    #[state(validate(range(min = 0.0, max = 1.0)))]
    share: Option<f32>,
    #[state(validate(range(min = 1)))]
    count: Option<u64>,
    #[state(validate(ascii, prefix("a"), suffix("z"), contains("m")))]
    code: Option<String>,
    #[state(validate(alphanumeric))]
    word: String,
    #[state(validate(inner(length(min = 1), ascii)))]
    tags: Vec<String>,
    #[state(validate(inner(inner(range(max = 9)))))]
    table: BTreeMap<String, Vec<u8>>,
    #[state(validate(required))]
    answer: Option<u8>,
    #[state(validate(custom(even)))]
    pair: u32,
    #[state(exclude, validate(custom(even), range(max = 4)))]
    secret: u32,
    #[state(validate(length(equal = 2)))]
    set: HashSet<u8>,
}

fn broken(change: impl FnOnce(&mut Rules)) -> Vec<String> {
    let mut state = Rules { answer: Some(1), set: HashSet::from([1, 2]), ..Rules::default() };
    change(&mut state);
    let mut report = Report::default();
    for index in 0..Rules::FIELD_COUNT {
        state.validate_field(index, &mut report);
    }
    let violations = report.into_violations().into_iter().map(|(_, broken)| broken);
    violations.chain(state.check_invariant().err()).map(|broken| broken.to_string()).collect()
}

#[track_caller]
fn check(change: impl FnOnce(&mut Rules), expected: &str) {
    assert_eq!(broken(change), [expected]);
}

#[track_caller]
fn check_valid(change: impl FnOnce(&mut Rules)) {
    assert_eq!(broken(change), Vec::<String>::new());
}

#[test]
fn none_satisfies_every_rule_except_required() {
    check_valid(|_| {});
    check(|state| state.answer = None, "field `answer` breaks `required` with null: not set");
}

#[test]
fn length_counts_characters_and_items() {
    check_valid(|state| state.text = "größe".to_owned());
    check(
        |state| state.text = "🦀🦀🦀🦀🦀🦀".to_owned(),
        "field `text` breaks `length(max = 5)` with \"🦀🦀🦀🦀🦀🦀\": length is greater than 5",
    );
    check(
        |state| state.names = Some(Vec::new()),
        "field `names` breaks `length(min = 1, max = 2)` with []: length is lower than 1",
    );
    check(
        |state| state.set = HashSet::new(),
        "field `set` breaks `length(equal = 2)` with []: length is lower than 2",
    );
}

#[test]
fn nan_is_in_no_range() {
    check_valid(|state| state.share = Some(1.0));
    check(
        |state| state.share = Some(f32::NAN),
        "field `share` breaks `range(min = 0.0, max = 1.0)` with null: not a number",
    );
    check(|state| state.count = Some(0), "field `count` breaks `range(min = 1)` with 0: lower than 1");
}

#[test]
fn every_broken_rule_is_reported() {
    check_valid(|state| state.code = Some("amz".to_owned()));
    assert_eq!(broken(|state| state.code = Some("é".to_owned())).len(), 4);
    check(
        |state| state.word = "a b".to_owned(),
        "field `word` breaks `alphanumeric` with \"a b\": not alphanumeric",
    );
}

#[test]
fn inner_rule_names_the_element() {
    check(
        |state| state.tags = vec!["a".to_owned(), String::new()],
        "field `tags` breaks `inner(length(min = 1), ascii)` with [\"a\",\"\"]: at [1]: length is lower than 1",
    );
    check(
        |state| drop(state.table.insert("row".to_owned(), vec![9, 10])),
        "field `table` breaks `inner(inner(range(max = 9)))` with {\"row\":[9,10]}: at [\"row\"]: at [1]: greater than 9",
    );
}

#[test]
fn custom_rules_and_invariants_report_their_own_message() {
    check(|state| state.pair = 3, "field `pair` breaks `custom(even)` with 3: 3 is odd");
    let names = ["a", "b", "c"].map(str::to_owned).to_vec();
    assert_eq!(
        broken(|state| state.names = Some(names)).last().map(String::as_str),
        Some("the state breaks its invariant `fits`: too many names")
    );
}

#[test]
fn excluded_value_is_in_no_error_text() {
    let broken = broken(|state| state.secret = 4711);
    assert_eq!(broken, ["field `secret` breaks `custom(even)`", "field `secret` breaks `range(max = 4)`"]);
}
