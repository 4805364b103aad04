//! The check of an answer against a JSON Schema.

use serde_json::{Map, Value};

use crate::payload::push_key;

/// The place in an answer that does not fit, and the reason. Quotes no value.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Misfit {
    /// A JSON path that begins with `$`.
    pub(super) path: String,
    pub(super) reason: String,
}

/// Checks a value as `serde_json` reads it: a whole number has no decimal point, a struct may be written as a list of
/// its fields, and a variant without data as an object. Keywords that are not known here are ignored.
pub(super) fn check(schema: &Value, value: &Value) -> Result<(), Misfit> {
    Checker { root: schema }.check(schema, value, &mut "$".to_owned(), 0)
}

struct Checker<'s> {
    root: &'s Value,
}

/// The depth at which a check ends, for schemas whose references lead to themselves.
const DEEPEST: usize = 256;
/// The number of characters of an unknown key that an error shows.
const SHOWN: usize = 40;

impl Checker<'_> {
    fn check(&self, schema: &Value, value: &Value, path: &mut String, depth: usize) -> Result<(), Misfit> {
        let Value::Object(schema) = schema else {
            return match schema {
                Value::Bool(false) => Err(misfit(path, "it is not expected here")),
                _ => Ok(()),
            };
        };
        if depth > DEEPEST {
            return Ok(());
        }
        let inner =
            |schema: &Value, value: &Value, path: &mut String| self.check(schema, value, path, depth + 1);
        if let Some(target) = schema.get("$ref").and_then(Value::as_str)
            && let Some(target) = target.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer))
        {
            inner(target, value, path)?;
        }
        if let Some(kinds) = schema.get("type") {
            check_type(kinds, schema, value, path)?;
        }
        if let Some(allowed) = schema.get("enum").and_then(Value::as_array)
            && !allowed.iter().any(|allowed| is_same(allowed, value))
        {
            return Err(misfit(path, format!("expected {}", one_of(allowed))));
        }
        if let Some(constant) = schema.get("const")
            && !is_same(constant, value)
        {
            return Err(misfit(path, format!("expected {}", one_of(std::slice::from_ref(constant)))));
        }
        match value {
            Value::Number(number) => check_number(schema, number.as_f64(), path)?,
            Value::String(text) => {
                check_length(schema, ("minLength", "maxLength"), text.chars().count(), path)?
            }
            Value::Array(items) if !is_struct(schema, items.len()) => {
                check_length(schema, ("minItems", "maxItems"), items.len(), path)?;
                let prefix =
                    schema.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
                for (index, item) in items.iter().enumerate() {
                    if let Some(schema) = prefix.get(index).or_else(|| schema.get("items")) {
                        at(path, |path| *path += &format!("[{index}]"), |path| inner(schema, item, path))?;
                    }
                }
            }
            Value::Object(fields) => self.check_fields(schema, fields, path, depth)?,
            _ => {}
        }
        for schema in list(schema, "allOf") {
            inner(schema, value, path)?;
        }
        for keyword in ["anyOf", "oneOf"] {
            let mut misfits = Vec::new();
            for schema in list(schema, keyword) {
                match inner(schema, value, path) {
                    Ok(()) => {
                        misfits.clear();
                        break;
                    }
                    Err(misfit) => misfits.push(misfit),
                }
            }
            if let Some(misfit) = nearest(misfits) {
                return Err(misfit);
            }
        }
        Ok(())
    }

    fn check_fields(
        &self,
        schema: &Map<String, Value>,
        fields: &Map<String, Value>,
        path: &mut String,
        depth: usize,
    ) -> Result<(), Misfit> {
        for name in list(schema, "required").iter().filter_map(Value::as_str) {
            if !fields.contains_key(name) {
                return Err(misfit(path, format!("the key `{name}` is missing")));
            }
        }
        check_length(schema, ("minProperties", "maxProperties"), fields.len(), path)?;
        let properties = schema.get("properties").and_then(Value::as_object);
        let has_patterns = schema.contains_key("patternProperties");
        for (name, value) in fields {
            let of_name = properties.and_then(|properties| properties.get(name));
            let other = || schema.get("additionalProperties").filter(|_| !has_patterns);
            match of_name.or_else(other) {
                Some(Value::Bool(false)) if of_name.is_none() => {
                    let shown: String = name.chars().take(SHOWN).collect();
                    return Err(misfit(path, format!("the key `{shown}` is not expected")));
                }
                Some(schema) => {
                    let key =
                        |path: &mut String| push_key(path, &name.chars().take(SHOWN).collect::<String>());
                    at(path, key, |path| self.check(schema, value, path, depth + 1))?;
                }
                None => {}
            }
        }
        Ok(())
    }
}

/// Extends a path for the time of a check.
fn at<T>(path: &mut String, extend: impl FnOnce(&mut String), check: impl FnOnce(&mut String) -> T) -> T {
    let before = path.len();
    extend(path);
    let result = check(path);
    path.truncate(before);
    result
}

fn misfit(path: &str, reason: impl Into<String>) -> Misfit {
    Misfit { path: path.to_owned(), reason: reason.into() }
}

fn list<'s>(schema: &'s Map<String, Value>, keyword: &str) -> &'s [Value] {
    schema.get(keyword).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn check_type(kinds: &Value, schema: &Map<String, Value>, value: &Value, path: &str) -> Result<(), Misfit> {
    let kinds: Vec<&str> = match kinds {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        kind => kind.as_str().into_iter().collect(),
    };
    let is = |kind: &&str| match (*kind, value) {
        ("null", Value::Null)
        | ("boolean", Value::Bool(_))
        | ("number", Value::Number(_))
        | ("string", Value::String(_))
        | ("array", Value::Array(_))
        | ("object", Value::Object(_)) => true,
        ("integer", Value::Number(number)) => !number.is_f64(),
        ("object", Value::Array(items)) => is_struct(schema, items.len()),
        // A variant without data may be written as an object.
        ("string", Value::Object(fields)) => schema.contains_key("enum") && fields.len() == 1,
        _ => false,
    };
    if kinds.is_empty() || kinds.iter().any(is) {
        return Ok(());
    }
    let expected: Vec<&str> = kinds.iter().map(|kind| with_article(kind)).collect();
    Err(misfit(path, format!("expected {}, but got {}", expected.join(" or "), kind_of(value))))
}

/// Returns `true` if a list of this length can stand for a struct.
fn is_struct(schema: &Map<String, Value>, length: usize) -> bool {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return false };
    let least = list(schema, "required").len();
    let has_more = schema.get("additionalProperties") == Some(&Value::Bool(true));
    length >= least && (length <= properties.len() || has_more) && !schema.contains_key("maxProperties")
}

fn is_same(allowed: &Value, value: &Value) -> bool {
    if let (Value::String(name), Value::Object(fields)) = (allowed, value) {
        return fields.len() == 1 && fields.get(name).is_some_and(Value::is_null);
    }
    allowed == value
}

fn check_number(schema: &Map<String, Value>, number: Option<f64>, path: &str) -> Result<(), Misfit> {
    let Some(number) = number else { return Ok(()) };
    let bound = |keyword| schema.get(keyword).and_then(Value::as_f64);
    let broken = [
        bound("minimum").filter(|least| number < *least).map(|bound| ("at least", bound)),
        bound("exclusiveMinimum").filter(|least| number <= *least).map(|bound| ("more than", bound)),
        bound("maximum").filter(|greatest| number > *greatest).map(|bound| ("at most", bound)),
        bound("exclusiveMaximum").filter(|greatest| number >= *greatest).map(|bound| ("less than", bound)),
    ];
    match broken.into_iter().flatten().next() {
        Some((relation, bound)) => Err(misfit(path, format!("expected a number of {relation} {bound}"))),
        None => Ok(()),
    }
}

fn check_length(
    schema: &Map<String, Value>,
    (least, greatest): (&str, &str),
    length: usize,
    path: &str,
) -> Result<(), Misfit> {
    let bound =
        |keyword| schema.get(keyword).and_then(Value::as_u64).and_then(|bound| usize::try_from(bound).ok());
    match (bound(least), bound(greatest)) {
        (Some(least), _) if length < least => {
            Err(misfit(path, format!("its length is {length}, but at least {least} is expected")))
        }
        (_, Some(greatest)) if length > greatest => {
            Err(misfit(path, format!("its length is {length}, but at most {greatest} is expected")))
        }
        _ => Ok(()),
    }
}

/// Returns the misfit of the alternative that fits best: the one whose misfit is deepest. Lists the reasons of several
/// that are equally deep.
fn nearest(mut misfits: Vec<Misfit>) -> Option<Misfit> {
    let deepest = misfits.iter().map(|misfit| misfit.path.len()).max()?;
    misfits.retain(|misfit| misfit.path.len() == deepest);
    let mut reasons: Vec<&str> = misfits.iter().map(|misfit| misfit.reason.as_str()).collect();
    reasons.dedup();
    let path = misfits.first()?.path.clone();
    Some(Misfit { path, reason: reasons.join("; or ") })
}

fn one_of(allowed: &[Value]) -> String {
    let allowed: Vec<String> = allowed.iter().map(|value| format!("`{value}`")).collect();
    allowed.join(" or ")
}

fn with_article(kind: &str) -> &str {
    match kind {
        "null" => "null",
        "boolean" => "a boolean",
        "integer" => "a whole number",
        "number" => "a number",
        "string" => "a string",
        "array" => "an array",
        "object" => "an object",
        other => other,
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if number.is_f64() => "a number with a fraction",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
