//! JSON numbers that are too large for the type of their field are refused, wherever they are.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use superstep::GraphState;
use superstep::payload::{Payload, from_payload};
use superstep::state::Input as _;

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Point {
    x: f32,
    #[serde(flatten)]
    more: BTreeMap<String, f32>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Either {
    Number(f32),
    Text(String),
}

#[derive(GraphState, Clone, Debug)]
struct Limits {
    #[state(input)]
    limit: Option<f32>,
}

#[derive(GraphState, Clone, Debug)]
struct Numbers {
    #[state(input, validate(range(min = 0.0)))]
    weight: f32,
    #[state(input)]
    wide: Option<f64>,
    #[state(input)]
    maybe: Option<f32>,
    #[state(input, reducer = append)]
    list: Vec<f32>,
    #[state(input, reducer = merge)]
    map: BTreeMap<String, Option<f32>>,
    #[state(input)]
    point: Option<Point>,
    #[state(input)]
    either: Option<Either>,
    #[state(input, exclude)]
    secret: Option<BTreeMap<String, f32>>,
    #[state(input, alias = "signed")]
    int: Option<i64>,
    #[state(input)]
    natural: Option<u64>,
    #[state(flatten)]
    limits: Limits,
}

const OVERFLOWS: &str =
    "the number is too large for its type, which would hold infinity: use a smaller number";

/// Checks the only problem of an input and of an update with this value for this field.
#[track_caller]
fn check(field: &str, value: Value, expected: &str) {
    let mut json = json!({"weight": 1});
    json[field] = value.clone();
    let error = NumbersInput::from_json(json).unwrap_err();
    let [problem] = error.problems() else { panic!("{error}") };
    assert_eq!(problem.to_string(), expected);

    let read = |json: Value| serde_json::from_value::<NumbersUpdate>(json).unwrap_err().to_string();
    assert_eq!(read(json!({field: value})).lines().last().unwrap().trim(), expected);
    let overwrite = json!([{}, {"$overwrite": {field: value}}]);
    let expected = expected.replacen('$', "$[1][\"$overwrite\"]", 1);
    assert_eq!(read(overwrite).lines().last().unwrap().trim(), expected);
}

#[test]
fn overflowing_floats_are_refused_with_their_path() {
    for number in [1e300, -1e300, 3.5e38] {
        check("weight", json!(number), &format!("$.weight: {OVERFLOWS}"));
        check("maybe", json!(number), &format!("$.maybe: {OVERFLOWS}"));
        check("list", json!([1, number]), &format!("$.list[1]: {OVERFLOWS}"));
        check("map", json!({"a": 1, "b c": number}), &format!("$.map[\"b c\"]: {OVERFLOWS}"));
        check("point", json!({"x": number}), &format!("$.point.x: {OVERFLOWS}"));
        check("point", json!({"x": 1, "y": number}), &format!("$.point.y: {OVERFLOWS}"));
        check("either", json!(number), &format!("$.either: {OVERFLOWS}"));
        check("limit", json!(number), &format!("$.limit: {OVERFLOWS}"));
        // The keys of an excluded map are secret too.
        check("secret", json!({"key": number}), &format!("$.secret: {OVERFLOWS}"));
    }
}

#[test]
fn large_numbers_with_small_exponents_are_refused() {
    let read = |json: String| from_payload::<Vec<Either>>(&Payload::json(json));
    for number in [format!("{}e9", "9".repeat(38)), format!("-{}.5E+9", "9".repeat(30))] {
        let error = read(format!("[1,{number}]")).unwrap_err();
        assert_eq!(error.to_string(), format!("at `$[1]`, {OVERFLOWS}"));
    }
    assert!(read(format!("[{}e9]", "9".repeat(29))).is_ok());
}

#[test]
fn integers_outside_of_their_type_are_refused() {
    let too_small = json!(-1);
    check("natural", too_small, "$.natural: invalid value: integer `-1`, expected u64");
    check("int", json!(u64::MAX), &format!("$.int: invalid value: integer `{}`, expected i64", u64::MAX));
    // serde_json reads it as a float.
    let wider: Value = serde_json::from_str("18446744073709551616").unwrap();
    check(
        "natural",
        wider.clone(),
        "$.natural: invalid type: floating point `1.8446744073709552e+19`, expected u64",
    );
    check("int", wider, "$.int: invalid type: floating point `1.8446744073709552e+19`, expected i64");
}

#[test]
fn largest_numbers_of_a_type_are_read() {
    let json = json!({
        "weight": f32::MAX, "maybe": f32::MIN, "wide": f64::MAX, "signed": i64::MIN, "natural": u64::MAX,
        "list": [1e-300, f32::MAX], "either": "1e300",
    });
    let input = NumbersInput::from_json(json.clone()).unwrap();
    let state = Numbers::started(input).unwrap();
    assert_eq!((state.weight, state.maybe, state.wide), (f32::MAX, Some(f32::MIN), Some(f64::MAX)));
    assert_eq!(
        (state.int, state.natural, &state.list[..]),
        (Some(i64::MIN), Some(u64::MAX), &[0.0, f32::MAX][..])
    );
    let _update: NumbersUpdate = serde_json::from_value(json).unwrap();
}

#[test]
fn nan_and_infinity_break_every_range() {
    for weight in [f32::NAN, f32::NEG_INFINITY] {
        let error = Numbers::started(Numbers::input(weight)).unwrap_err();
        assert_eq!(error.kind().name(), "Validation");
    }
}
