//! The part of JSON Schema that the document uses. A keyword that is not known fails the test.

use serde_json::{Map, Value, json};

/// Follows a reference into the document.
pub(crate) fn resolved<'s>(document: &'s Value, schema: &'s Value) -> &'s Value {
    match schema.get("$ref").and_then(Value::as_str) {
        Some(reference) => {
            let found = document.pointer(reference.trim_start_matches('#'));
            found.unwrap_or_else(|| panic!("{reference} leads nowhere"))
        }
        None => schema,
    }
}

/// Compares a value with a schema. The error has the place and the reason.
pub(crate) fn check(document: &Value, schema: &Value, value: &Value) -> Result<(), String> {
    let Value::Object(keywords) = schema else {
        return if *schema == json!(true) { Ok(()) } else { Err("nothing fits".to_owned()) };
    };
    for (keyword, operand) in keywords {
        keyword_fits(document, keyword, operand, keywords, value)
            .map_err(|problem| format!("{keyword}: {problem}"))?;
    }
    Ok(())
}

fn keyword_fits(
    document: &Value,
    keyword: &str,
    operand: &Value,
    keywords: &Map<String, Value>,
    value: &Value,
) -> Result<(), String> {
    let fits = |schema: &Value| check(document, schema, value).is_ok();
    let list = |operand: &Value| operand.as_array().cloned().unwrap();
    let holds = match keyword {
        "description" | "title" | "default" | "contentMediaType" | "contentSchema" => true,
        "format" => value.as_str().is_none_or(|text| match operand.as_str().unwrap() {
            "uuid" => matches(r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$", text),
            "date-time" => matches(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$", text),
            "uint" | "uint64" | "double" => true,
            other => panic!("the format `{other}` is not known here"),
        }),
        "$ref" => return check(document, resolved(document, &Value::Object(keywords.clone())), value),
        "anyOf" => list(operand).iter().any(fits),
        "oneOf" => list(operand).iter().filter(|schema| fits(schema)).count() == 1,
        "const" => value == operand,
        "enum" => list(operand).contains(value),
        "type" => match operand {
            Value::Array(kinds) => kinds.iter().any(|kind| is(kind.as_str().unwrap(), value)),
            kind => is(kind.as_str().unwrap(), value),
        },
        "minimum" => value.as_f64().is_none_or(|number| number >= operand.as_f64().unwrap()),
        "maximum" => value.as_f64().is_none_or(|number| number <= operand.as_f64().unwrap()),
        "exclusiveMinimum" => value.as_f64().is_none_or(|number| number > operand.as_f64().unwrap()),
        "minLength" => {
            value.as_str().is_none_or(|text| text.chars().count() as u64 >= operand.as_u64().unwrap())
        }
        "maxProperties" => value.as_object().is_none_or(|all| all.len() as u64 <= operand.as_u64().unwrap()),
        "minItems" => value.as_array().is_none_or(|items| items.len() as u64 >= operand.as_u64().unwrap()),
        "maxItems" => value.as_array().is_none_or(|items| items.len() as u64 <= operand.as_u64().unwrap()),
        "pattern" => value.as_str().is_none_or(|text| matches(operand.as_str().unwrap(), text)),
        "required" => value.as_object().is_none_or(|fields| {
            list(operand).iter().all(|name| fields.contains_key(name.as_str().unwrap()))
        }),
        "properties" => {
            for (name, schema) in operand.as_object().unwrap() {
                if let Some(field) = value.get(name) {
                    check(document, schema, field).map_err(|problem| format!("{name}: {problem}"))?;
                }
            }
            true
        }
        "additionalProperties" => value.as_object().is_none_or(|fields| {
            let known =
                |name: &String| keywords.get("properties").is_some_and(|known| known.get(name).is_some());
            fields
                .iter()
                .filter(|(name, _)| !known(name))
                .all(|(_, field)| check(document, operand, field).is_ok())
        }),
        "prefixItems" => {
            let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
            for (schema, item) in list(operand).iter().zip(items) {
                check(document, schema, item)?;
            }
            true
        }
        "items" => {
            for item in value.as_array().into_iter().flatten() {
                check(document, operand, item)?;
            }
            true
        }
        other => panic!("the keyword `{other}` is not known here"),
    };
    if holds { Ok(()) } else { Err(format!("{value} does not fit {operand}")) }
}

fn matches(pattern: &str, text: &str) -> bool {
    regex_lite::Regex::new(pattern).unwrap().is_match(text)
}

fn is(kind: &str, value: &Value) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("the type `{other}` is not known here"),
    }
}
