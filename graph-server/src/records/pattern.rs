use serde_json::Value;
use superstep::store::{Condition, FieldPath, StoreError, Test};

use crate::protocol::Object;

/// Returns `true` if a value has everything that a filter asks for: objects contain the fields of the filter, and
/// anything else is equal.
pub(crate) fn contains(value: &Value, filter: &Value) -> bool {
    match (value, filter) {
        (Value::Object(value), Value::Object(filter)) => {
            filter.iter().all(|(key, filter)| value.get(key).is_some_and(|value| contains(value, filter)))
        }
        (value, filter) => equal(value, filter),
    }
}

/// Compares numbers by their value: `1` equals `1.0`.
fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| equal(a, b)))
        }
        (a, b) => a == b,
    }
}

/// Returns the conditions under which the store finds an object that contains a filter.
///
/// The store cannot ask for an empty object inside the filter, so a caller checks [`contains`] as well.
///
/// # Errors
/// A value cannot be compared.
pub(crate) fn conditions(path: &[&str], filter: &Object) -> Result<Vec<Condition>, StoreError> {
    let mut conditions = Vec::new();
    let mut path: Vec<String> = path.iter().map(|&name| name.to_owned()).collect();
    add(&mut path, filter, &mut conditions)?;
    Ok(conditions)
}

/// Returns the condition that a field equals a value.
///
/// # Errors
/// The value cannot be compared.
pub(crate) fn equals(field: &str, value: &str) -> Result<Condition, StoreError> {
    Condition::new(field, Test::Equal, value)
}

fn add(path: &mut Vec<String>, filter: &Object, conditions: &mut Vec<Condition>) -> Result<(), StoreError> {
    for (key, value) in filter {
        path.push(key.clone());
        match value {
            Value::Object(inner) => add(path, inner, conditions)?,
            value => conditions.push(Condition::new(FieldPath::from(path.clone()), Test::Equal, value)?),
        }
        path.pop();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn filters_compare_nested_objects_field_by_field() {
        let value = json!({ "a": { "b": 1, "c": [1, { "d": 2 }] }, "e": null });
        for filter in [
            json!({}),
            json!({ "a": {} }),
            json!({ "a": { "b": 1.0 } }),
            json!({ "a": { "c": [1, { "d": 2 }] } }),
            json!({ "e": null }),
        ] {
            assert!(contains(&value, &filter), "{filter}");
        }
        for filter in [
            json!({ "a": 1 }),
            json!({ "a": { "b": "1" } }),
            json!({ "a": { "c": [1] } }),
            json!({ "e": {} }),
            json!({ "f": null }),
        ] {
            assert!(!contains(&value, &filter), "{filter}");
        }
    }
}
