//! Values that fit schemas.

use serde_json::{Value, json};

use crate::described::schema::resolved;

/// Returns a value that fits a schema: an object has its required fields only.
pub(crate) fn example(document: &Value, schema: &Value) -> Value {
    let schema = resolved(document, schema);
    if let Some(value) = schema.get("const").or_else(|| schema.get("enum")?.get(0)) {
        return value.clone();
    }
    if let Some(first) = schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(|of| of.get(0)) {
        return example(document, first);
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds[0].clone(),
        kind => kind.clone(),
    };
    match kind.as_str() {
        Some("object") => {
            let required = schema["required"].as_array().cloned().unwrap_or_default();
            let field = |name: &Value| {
                let name = name.as_str().unwrap();
                (name.to_owned(), example(document, &schema["properties"][name]))
            };
            Value::Object(required.iter().map(field).collect())
        }
        Some("array") => json!([example(document, &schema["items"])]),
        Some("integer") => schema.get("minimum").cloned().unwrap_or_else(|| json!(1)),
        Some("number") => json!(1.5),
        Some("boolean") => json!(true),
        Some("string") => match schema["format"].as_str() {
            Some("uuid") => json!("01890a5d-ac96-774b-bcce-b302099a8057"),
            Some("date-time") => json!("2030-01-01T00:00:00+00:00"),
            _ => json!("text"),
        },
        _ => json!({}),
    }
}
