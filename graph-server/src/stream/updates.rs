use serde_json::{Map, Value, json};
use superstep::interrupt::OpenInterrupt;

use crate::graphs::interrupt_id;

/// Converts the writes of a node to an update as clients know it: `null`, an object, or a list of objects if a field was
/// written several times. Overwritten fields have their values.
pub(crate) fn update_json(writes: Value) -> Value {
    let Value::Array(objects) = writes else { return writes };
    let mut updates: Vec<Value> = objects.into_iter().map(flat).collect();
    match updates.len() {
        0 => Value::Null,
        1 => updates.swap_remove(0),
        _ => Value::Array(updates),
    }
}

fn flat(object: Value) -> Value {
    let Value::Object(mut fields) = object else { return object };
    if let Some(Value::Object(overwritten)) = fields.remove("$overwrite") {
        fields.extend(overwritten);
    }
    for item in fields.values_mut().flat_map(|value| value.as_array_mut().into_iter().flatten()) {
        remove_mark(item);
    }
    Value::Object(fields)
}

/// Removes the mark by which an update says how a message gets into the conversation. It is no part of the message.
pub(super) fn remove_mark(message: &mut Value) {
    let Value::Object(fields) = message else { return };
    let marked = fields.get("$id").is_some_and(|mark| mark == "new" || mark == "client");
    if marked && fields.contains_key("type") && fields.contains_key("content") {
        fields.remove("$id");
    }
}

/// Merges the writes of a task to one object, as the result of a task has them.
pub(super) fn result_json(writes: &Value) -> Value {
    let objects = writes.as_array().into_iter().flatten().cloned().map(flat);
    let fields: Map<String, Value> =
        objects.filter_map(|object| object.as_object().cloned()).flatten().collect();
    Value::Object(fields)
}

/// Converts questions.
pub(crate) fn interrupts_json<'i>(interrupts: impl IntoIterator<Item = &'i OpenInterrupt>) -> Value {
    interrupts.into_iter().map(|open| json!({ "value": open.question, "id": interrupt_id(open) })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(writes: Value, expected: Value) {
        assert_eq!(update_json(writes), expected);
    }

    #[test]
    fn updates_are_objects_where_possible() {
        check(json!([]), Value::Null);
        check(json!([{ "notes": ["a"], "best": 1 }]), json!({ "notes": ["a"], "best": 1 }));
        check(json!([{ "best": 1, "$overwrite": { "notes": [] } }]), json!({ "best": 1, "notes": [] }));
        let message = json!({ "type": "tool", "content": "42", "id": "m-1" });
        let mut marked = message.clone();
        marked["$id"] = "new".into();
        check(json!([{ "messages": [marked] }]), json!({ "messages": [message] }));
        check(
            json!([{ "notes": ["a"] }, { "$overwrite": { "notes": [] } }]),
            json!([{ "notes": ["a"] }, { "notes": [] }]),
        );
    }
}
