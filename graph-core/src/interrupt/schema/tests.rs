mod types;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::net::IpAddr;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{check, schema_of};
use types::*;

#[track_caller]
fn schema<A: DeserializeOwned + 'static>(expected: Value) {
    assert_eq!(schema_of::<A>().unwrap_or(Value::Bool(true)), expected, "{}", std::any::type_name::<A>());
}

#[test]
fn schemas_describe_the_types() {
    schema::<bool>(json!({"type": "boolean"}));
    schema::<u8>(json!({"type": "integer", "minimum": 0, "maximum": 255}));
    schema::<i32>(json!({"type": "integer", "minimum": i32::MIN, "maximum": i32::MAX}));
    schema::<i64>(json!({"type": "integer"}));
    schema::<u128>(json!({"type": "integer", "minimum": 0}));
    schema::<f32>(json!({"type": "number"}));
    schema::<char>(json!({"type": "string", "minLength": 1, "maxLength": 1}));
    schema::<()>(json!({"type": "null"}));
    schema::<Value>(json!(true));
    schema::<Untagged>(json!(true));
    schema::<Option<String>>(json!({"type": ["string", "null"]}));
    schema::<HashMap<String, Vec<bool>>>(json!({
        "type": "object", "additionalProperties": {"type": "array", "items": {"type": "boolean"}},
    }));
    schema::<BTreeMap<u8, bool>>(json!({"type": "object", "additionalProperties": {"type": "boolean"}}));
    schema::<Verdict>(json!({
        "type": "object",
        "properties": {
            "approved": {"type": "boolean"},
            "comment": {"type": "string"},
            "note": {"type": "string"},
            "stars": {"type": "integer", "minimum": 0, "maximum": 255},
            "by": {"type": ["string", "null"]},
        },
        "required": ["approved"],
        "allOf": [{"anyOf": [{"required": ["comment"]}, {"required": ["note"]}]}],
    }));
    schema::<Plain>(json!({"type": "string", "enum": ["Yes", "Never", "No"]}));
    schema::<Strict>(json!({
        "type": "object",
        "properties": {
            "a": {"type": "integer", "minimum": 0, "maximum": 65535},
            "bee": {"type": ["number", "null"]},
        },
        "required": ["a"],
        "additionalProperties": false,
    }));
    schema::<Internal>(json!({
        "type": "object",
        "properties": {"kind": {"type": "string", "enum": ["Empty", "Full", "Inner"]}},
        "required": ["kind"],
    }));
    schema::<Adjacent>(json!({"anyOf": [
        {
            "type": "object",
            "properties": {"t": {"const": "Full"}, "c": {"type": "string"}},
            "required": ["t", "c"],
        },
        {"type": "object", "properties": {"t": {"const": "Empty"}, "c": {"type": "null"}}, "required": ["t"]},
        {
            "type": "object",
            "properties": {"t": {"const": "Both"}, "c": {"type": "object"}},
            "required": ["t", "c"],
        },
    ]}));
    schema::<Likely>(json!({
        "type": "object",
        "properties": {"kind": {"type": "string", "enum": ["Yes", "Never", "No"]}, "value": true},
        "required": ["kind", "value"],
    }));
    let pair = json!({
        "type": "array",
        "prefixItems": [{"type": "integer", "minimum": 0, "maximum": 255}, {"type": "boolean"}],
        "minItems": 2,
        "maxItems": 2,
    });
    schema::<Transparent>(json!({"type": "array", "items": pair}));
}

/// Returns changed forms of a value: with other parts, without parts, and with additional parts.
fn changed(value: &Value) -> Vec<Value> {
    let atoms = [
        json!(null),
        json!(true),
        json!(0),
        json!(1),
        json!(-1),
        json!(300),
        json!(70_000),
        json!(u64::MAX),
        json!(1.0),
        json!(0.5),
        json!(""),
        json!("x"),
        json!("Never"),
        json!("17"),
        json!([]),
        json!({}),
        json!(["x", true]),
        json!({"a": 1}),
    ];
    let mut all: Vec<Value> = atoms.into();
    all.push(json!([value]));
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                let mut without = items.clone();
                without.remove(index);
                all.push(without.into());
                for item in changed(item) {
                    let mut with = items.clone();
                    with[index] = item;
                    all.push(with.into());
                }
            }
            let mut longer = items.clone();
            longer.push(json!(1));
            all.push(longer.into());
        }
        Value::Object(fields) => {
            all.push(fields.values().cloned().collect());
            for (key, item) in fields {
                let mut without = fields.clone();
                without.remove(key);
                all.push(without.clone().into());
                for item in changed(item) {
                    let mut with = fields.clone();
                    with.insert(key.clone(), item);
                    all.push(with.into());
                }
                for name in ["note", "correct", "bee", "a"] {
                    let mut renamed = without.clone();
                    renamed.insert(name.to_owned(), item.clone());
                    all.push(renamed.into());
                }
                all.push(json!({key.as_str(): null}));
                all.push(json!(key));
            }
            let mut longer = fields.clone();
            longer.insert("unknown".to_owned(), json!(1));
            all.push(longer.into());
        }
        _ => {}
    }
    all
}

/// Returns `true` if the schema refuses a list in the place of a struct, or an object in the place of a variant without
/// data. serde reads both, and writes neither.
fn is_other_form<A: DeserializeOwned + Serialize>(schema: &Value, value: &Value, reason: &str) -> bool {
    let written = serde_json::from_value::<A>(value.clone()).and_then(serde_json::to_value).unwrap();
    (reason.contains("but got an array") || reason.contains("but got an object"))
        && check(schema, &written) == Ok(())
}

/// Returns the number of values that the type refuses and the schema does not, and the number that the schema refuses.
fn never_refuses_what_the_type_accepts<A: DeserializeOwned + Serialize + 'static>(
    seeds: &[Value],
) -> (usize, usize) {
    let schema = schema_of::<A>().unwrap_or(Value::Bool(true));
    let (mut missed, mut refused) = (0, 0);
    let values = seeds.iter().flat_map(|seed| changed(seed).into_iter().chain([seed.clone()]));
    let values = values.flat_map(|value| {
        changed(&value).into_iter().skip(18).step_by(5).take(20).chain([value]).collect::<Vec<_>>()
    });
    let mut seen = HashSet::new();
    for value in values.filter(|value| seen.insert(value.to_string())) {
        let read = std::panic::catch_unwind(|| serde_json::from_value::<A>(value.clone()).is_ok());
        match (read.unwrap_or(true), check(&schema, &value)) {
            (true, Err(reason)) if !is_other_form::<A>(&schema, &value, &reason) => {
                panic!(
                    "{} reads {value}, but the schema {schema} refuses it: {reason}",
                    std::any::type_name::<A>()
                )
            }
            (false, Ok(())) => missed += 1,
            (_, Err(_)) => refused += 1,
            (true, Ok(())) => {}
        }
    }
    for seed in seeds {
        assert!(
            serde_json::from_value::<A>(seed.clone()).is_ok(),
            "{seed} is no {}",
            std::any::type_name::<A>()
        );
    }
    (missed, refused)
}

#[test]
fn everything_that_a_type_reads_in_its_own_form_fits_its_schema() {
    let verdict = || json!({"approved": true, "comment": "fine", "stars": 3, "by": null});
    for _ in [
        never_refuses_what_the_type_accepts::<bool>(&[json!(true)]),
        never_refuses_what_the_type_accepts::<u8>(&[json!(7)]),
        never_refuses_what_the_type_accepts::<i16>(&[json!(-7)]),
        never_refuses_what_the_type_accepts::<i64>(&[json!(-7)]),
        never_refuses_what_the_type_accepts::<u64>(&[json!(7)]),
        never_refuses_what_the_type_accepts::<i128>(&[json!(7)]),
        never_refuses_what_the_type_accepts::<f32>(&[json!(7.5)]),
        never_refuses_what_the_type_accepts::<char>(&[json!("ß")]),
        never_refuses_what_the_type_accepts::<String>(&[json!("x")]),
        never_refuses_what_the_type_accepts::<()>(&[json!(null)]),
        never_refuses_what_the_type_accepts::<Unit>(&[json!(null)]),
        never_refuses_what_the_type_accepts::<Option<Option<u8>>>(&[json!(null), json!(1)]),
        never_refuses_what_the_type_accepts::<[u8; 3]>(&[json!([1, 2, 3])]),
        never_refuses_what_the_type_accepts::<(u8, String, Plain)>(&[json!([1, "x", "No"])]),
        never_refuses_what_the_type_accepts::<Vec<IpAddr>>(&[json!(["127.0.0.1"])]),
        never_refuses_what_the_type_accepts::<Result<u8, String>>(&[json!({"Ok": 1}), json!({"Err": "x"})]),
        never_refuses_what_the_type_accepts::<Duration>(&[json!({"secs": 1, "nanos": 2})]),
        never_refuses_what_the_type_accepts::<BTreeMap<i8, Option<u8>>>(&[json!({"-1": 2, "3": null})]),
        never_refuses_what_the_type_accepts::<HashMap<char, Plain>>(&[json!({"x": "No"})]),
        never_refuses_what_the_type_accepts::<Verdict>(&[verdict(), json!([true, "fine", 3, "x"])]),
        never_refuses_what_the_type_accepts::<Option<Box<Verdict>>>(&[verdict(), json!(null)]),
        never_refuses_what_the_type_accepts::<Newtype>(&[verdict()]),
        never_refuses_what_the_type_accepts::<Review>(&[
            json!("approve"),
            json!({"approve": null}),
            json!({"edit": {"text": "x", "lines": [1, 2]}}),
            json!({"correct": {"text": "x", "lines": []}}),
            json!({"reject": "x"}),
            json!({"move": [-1, "x"]}),
        ]),
        never_refuses_what_the_type_accepts::<Plain>(&[json!("Yes"), json!("Never"), json!({"No": null})]),
        never_refuses_what_the_type_accepts::<Open>(&[json!("Known"), json!("x")]),
        never_refuses_what_the_type_accepts::<Strict>(&[json!({"a": 1, "bee": 0.5}), json!([1, null])]),
        never_refuses_what_the_type_accepts::<Lax>(&[
            json!({"a": 1, "list": ["Yes"]}),
            json!([1]),
            json!([]),
        ]),
        never_refuses_what_the_type_accepts::<Flat>(&[
            json!({"id": 1, "approved": true, "comment": "x", "more": [1]}),
        ]),
        never_refuses_what_the_type_accepts::<Internal>(&[
            json!({"kind": "Empty"}),
            json!({"kind": "Full", "text": "x"}),
            json!({"kind": "Inner", "a": 1}),
            json!(["Full", "x"]),
        ]),
        never_refuses_what_the_type_accepts::<Adjacent>(&[
            json!({"t": "Full", "c": "x"}),
            json!({"t": "Empty"}),
            json!({"t": "Both", "c": {"a": 1, "b": true}}),
            json!(["Both", {"a": 1, "b": true}]),
        ]),
        never_refuses_what_the_type_accepts::<AdjacentStrict>(&[
            json!({"t": "Pair", "c": [1, 2]}),
            json!({"c": "x", "t": "One"}),
        ]),
        never_refuses_what_the_type_accepts::<Untagged>(&[json!(1), json!("x"), verdict()]),
        never_refuses_what_the_type_accepts::<Transparent>(&[json!([[1, true], [2, false]])]),
        never_refuses_what_the_type_accepts::<Tree>(&[
            json!({"value": 1, "children": [{"value": 2, "children": [], "parent": null}]}),
        ]),
        never_refuses_what_the_type_accepts::<Pair>(&[json!([1, "x"]), json!([1])]),
        never_refuses_what_the_type_accepts::<Checked>(&[
            json!({"size": 1, "address": "127.0.0.1", "amount": "17", "after": "x"}),
        ]),
        never_refuses_what_the_type_accepts::<Percent>(&[json!(50)]),
        never_refuses_what_the_type_accepts::<Loose>(&[json!(1), json!(300), json!(2.0)]),
        never_refuses_what_the_type_accepts::<Value>(&[verdict()]),
        never_refuses_what_the_type_accepts::<Box<serde_json::value::RawValue>>(&[verdict()]),
        never_refuses_what_the_type_accepts::<serde_json::Number>(&[json!(1)]),
        never_refuses_what_the_type_accepts::<crate::messages::Message>(&[
            json!({"role": "user", "content": "x"}),
        ]),
    ] {}
}

#[test]
fn schemas_refuse_nearly_everything_that_a_type_refuses() {
    for (missed, refused) in [
        never_refuses_what_the_type_accepts::<bool>(&[json!(true)]),
        never_refuses_what_the_type_accepts::<i16>(&[json!(-7)]),
        never_refuses_what_the_type_accepts::<Plain>(&[json!("Yes")]),
        never_refuses_what_the_type_accepts::<(u8, String, Plain)>(&[json!([1, "x", "No"])]),
        never_refuses_what_the_type_accepts::<Review>(&[
            json!("approve"),
            json!({"edit": {"text": "x", "lines": [1, 2]}}),
            json!({"move": [-1, "x"]}),
        ]),
        // The others are lists that could stand for the struct.
        never_refuses_what_the_type_accepts::<Newtype>(&[
            json!({"approved": true, "comment": "fine", "stars": 3, "by": null}),
        ]),
    ] {
        assert!(refused > 6 * missed, "{refused} refused, {missed} missed");
    }
}

/// A type whose complete schema would be very long.
#[derive(Deserialize)]
#[expect(dead_code, reason = "its fields are only deserialized")]
struct Wide {
    a: Option<Box<Wide>>,
    b: Option<Box<Wide>>,
    c: HashMap<String, Wide>,
    d: (Box<Self>, Verdict, Review),
}

#[test]
fn long_schemas_are_cut() {
    let schema = schema_of::<Wide>().unwrap();
    assert!(schema.to_string().len() <= 8 * 1024, "{schema}");
    assert_eq!(schema["properties"]["a"]["type"], json!(["object", "null"]));
    assert_eq!(schema["required"], json!(["c", "d"]));
}

#[test]
fn unusual_types_are_unconstrained() {
    schema::<Endless>(json!(true));
    schema::<Panics>(json!({"type": "string"}));
    schema::<Loose>(json!({"type": "number", "minimum": 0}));
    schema::<Open>(json!({"type": ["string", "object"]}));
    schema::<Flat>(json!({"type": "object"}));
}

fn reason(schema: &Value, answer: Value) -> String {
    check(schema, &answer).unwrap_err()
}

#[test]
fn reasons_name_the_place() {
    let verdict = schema_of::<Verdict>().unwrap();
    assert_eq!(reason(&verdict, json!("maybe")), "`$`: expected an object, but got a string");
    assert_eq!(reason(&verdict, json!({"comment": "x"})), "`$`: the key `approved` is missing");
    assert_eq!(
        reason(&verdict, json!({"approved": true, "comment": "x", "stars": 256})),
        "`$.stars`: expected a number of at most 255"
    );
    let review = schema_of::<Review>().unwrap();
    assert_eq!(
        reason(&review, json!({"edit": {"text": "x", "lines": [1, "2"]}})),
        "`$.edit.lines[1]`: expected a whole number, but got a string"
    );
    let strict = schema_of::<Strict>().unwrap();
    assert_eq!(reason(&strict, json!({"a": 1, "c": 2})), "`$`: the key `c` is not expected");
    assert_eq!(
        reason(&strict, json!({"a": 1.5})),
        "`$.a`: expected a whole number, but got a number with a decimal point or an exponent"
    );
    assert_eq!(
        reason(&schema_of::<Plain>().unwrap(), json!("Maybe")),
        "`$`: expected `\"Yes\"` or `\"Never\"` or `\"No\"`"
    );
}

#[test]
fn lists_are_no_structs_and_objects_no_names() {
    let array = "expected an object, but got an array";
    let verdict = schema_of::<Verdict>().unwrap();
    for list in [json!([true, "fine", 3, null]), json!([true]), json!([])] {
        assert!(reason(&verdict, list).ends_with(array));
    }
    let review = schema_of::<Review>().unwrap();
    assert!(reason(&review, json!({"edit": ["x", []]})).ends_with(array));
    assert!(check(&review, &json!({"approve": null})).is_err());
    let object = "`$`: expected a string, but got an object";
    assert_eq!(reason(&schema_of::<Plain>().unwrap(), json!({"Yes": null})), object);
    let internal = schema_of::<Internal>().unwrap();
    assert!(reason(&internal, json!(["Full", "x"])).ends_with(array));
    let adjacent = schema_of::<Adjacent>().unwrap();
    assert!(check(&adjacent, &json!(["Full", "x"])).is_err());
    assert!(reason(&adjacent, json!({"t": "Both", "c": [1, true]})).ends_with(array));
    assert_eq!(reason(&adjacent, json!({"t": "Full", "c": 1})), "`$.c`: expected a string, but got a number");
}

#[test]
fn whole_numbers_have_no_decimal_point_and_no_exponent() {
    let schema = schema_of::<u8>().unwrap();
    for text in ["5.0", "1e1", "0.5"] {
        let expected = "`$`: expected a whole number, but got a number with a decimal point or an exponent";
        assert_eq!(reason(&schema, serde_json::from_str(text).unwrap()), expected);
    }
}

#[test]
fn schemas_of_users_are_checked() {
    let schema = json!({
        "$defs": {"list": {"type": "array", "items": {"$ref": "#/$defs/list"}, "maxItems": 2}},
        "type": "object",
        "properties": {"of": {"$ref": "#/$defs/list"}, "is": {"const": 3}, "on": {"oneOf": [{"type": "null"}]}},
        "unevaluatedProperties": false,
    });
    assert_eq!(check(&schema, &json!({"of": [[], [[]]], "is": 3, "on": null})), Ok(()));
    assert_eq!(
        reason(&schema, json!({"of": [[], [1]]})),
        "`$.of[1][0]`: expected an array, but got a number"
    );
    assert_eq!(reason(&schema, json!({"is": 4})), "`$.is`: expected `3`");
    assert_eq!(reason(&schema, json!({"on": 4})), "`$.on`: expected null, but got a number");
    // A reference to itself ends.
    assert_eq!(check(&json!({"$ref": "#"}), &json!(1)), Ok(()));
}
