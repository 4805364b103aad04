use serde_json::{Value, json};

use super::*;

const VALUE: &str = r#"{"n":1,"f":1.5,"t":"1","yes":true,"null":null,"list":[1,{"a":2}],"in":{"city":"Ulm","a.b":3},
                        "wide":18446744073709551617,"\u00e9":"\u00e9"}"#;

fn holds(path: impl Into<FieldPath>, test: Test, operand: Value) -> bool {
    Condition::new(path, test, &operand).unwrap().holds(Some(VALUE)).unwrap()
}

#[test]
fn types_are_compared_strictly() {
    let values = [json!(1), json!("1"), json!(true), json!(null), json!([1, {"a": 2}])];
    for (field, own) in ["n", "t", "yes", "null", "list"].iter().zip(0..) {
        for (index, value) in values.iter().enumerate() {
            assert_eq!(holds(*field, Test::Equal, value.clone()), index == own, "{field} and {value}");
            assert_eq!(holds(*field, Test::NotEqual, value.clone()), index != own, "{field} and {value}");
        }
    }
}

#[test]
fn numbers_are_compared_by_value_at_every_depth() {
    assert!(holds("n", Test::Equal, json!(1.0)));
    assert!(holds("list", Test::Equal, json!([1.0, {"a": 2.0}])));
    assert!(holds("f", Test::Greater, json!(1)));
    assert!(holds("f", Test::Less, json!(2)));
    assert!(!holds("f", Test::AtMost, json!(1)));
    assert!(holds("wide", Test::Greater, json!(u64::MAX)));
    let exact = Condition::new("wide", Test::Equal, &18_446_744_073_709_551_617_u128).unwrap();
    assert!(exact.holds(Some(VALUE)).unwrap());
    let next = Condition::new("wide", Test::Equal, &18_446_744_073_709_551_616_u128).unwrap();
    assert!(!next.holds(Some(VALUE)).unwrap());
}

#[test]
fn values_of_different_types_have_no_order() {
    for test in [Test::Greater, Test::AtLeast, Test::Less, Test::AtMost] {
        assert!(!holds("t", test, json!(0)));
        assert!(!holds("n", test, json!("0")));
        assert!(!holds("null", test, json!(0)));
        assert!(!holds("gone", test, json!(0)));
    }
}

#[test]
fn missing_field_is_not_null_and_equals_nothing() {
    assert!(!holds("gone", Test::Equal, json!(null)));
    assert!(holds("gone", Test::NotEqual, json!(null)));
    assert!(holds("null", Test::Equal, json!(null)));
    assert!(!holds(["n", "deeper"], Test::Equal, json!(1)));
    assert!(!holds(["list", "0"], Test::Equal, json!(1)));
}

#[test]
fn names_are_not_split() {
    assert!(holds(["in", "city"], Test::Equal, json!("Ulm")));
    assert!(holds(["in", "a.b"], Test::Equal, json!(3)));
    assert!(!holds("in.city", Test::Equal, json!("Ulm")));
    assert!(holds("é", Test::Equal, json!("é")));
    assert!(holds("in", Test::Equal, json!({"a.b": 3, "city": "Ulm"})));
    assert!(!holds("in", Test::Equal, json!({"city": "Ulm"})));
}

#[test]
fn strings_are_ordered_by_their_bytes() {
    assert!(holds(["in", "city"], Test::Greater, json!("Tübingen")));
    assert!(holds(["in", "city"], Test::Less, json!("ulm")));
}

#[test]
fn invalid_operands_are_refused() {
    assert_eq!(
        Condition::new("a", Test::Greater, &true).unwrap_err().to_string(),
        "field [\"a\"] cannot be compared with this value: only numbers and strings have an order"
    );
    assert_eq!(
        Condition::new("a", Test::Equal, &f64::NAN).unwrap_err().to_string(),
        "field [\"a\"] cannot be compared with this value: it cannot be stored: JSON cannot represent NaN or infinity"
    );
}

#[test]
fn bytes_have_no_fields_and_invalid_json_is_an_error() {
    let condition = |test| Condition::new("a", test, &1).unwrap();
    assert!(!condition(Test::Equal).holds(None).unwrap());
    assert!(condition(Test::NotEqual).holds(None).unwrap());
    assert!(condition(Test::Equal).holds(Some("{\"a\":")).is_err());
    assert!(!format!("{:?}", Condition::new("a", Test::Equal, "secret").unwrap()).contains("secret"));
}
