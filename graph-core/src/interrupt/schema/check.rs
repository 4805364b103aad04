//! The check of an answer against a JSON Schema.

use serde_json::{Map, Value};

use crate::payload::push_key;

/// The place in an answer that does not fit, and the reason. Quotes no value.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Misfit {
    /// A JSON path that begins with `$`.
    pub(super) path: String,
    pub(super) reason: String,
    /// `true` if a `const` refused the value.
    constant: bool,
}

/// Checks a value. A whole number is one without a decimal point and an exponent, because integer types read no other.
/// Keywords that are not known here are ignored.
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
            check_type(kinds, value, path)?;
        }
        if let Some(allowed) = schema.get("enum").and_then(Value::as_array)
            && !allowed.contains(value)
        {
            return Err(misfit(path, format!("expected {}", one_of(allowed))));
        }
        if let Some(constant) = schema.get("const")
            && constant != value
        {
            let misfit = misfit(path, format!("expected {}", one_of(std::slice::from_ref(constant))));
            return Err(Misfit { constant: true, ..misfit });
        }
        match value {
            Value::Number(number) => check_number(schema, number.as_f64(), path)?,
            Value::String(text) => {
                check_length(schema, ("minLength", "maxLength"), text.chars().count(), path)?
            }
            Value::Array(items) => {
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
            // A constant inside of an alternative tells which one is meant.
            let is_other = |misfit: &Misfit| misfit.constant && misfit.path.len() > path.len();
            if !misfits.iter().all(is_other) {
                misfits.retain(|misfit| !is_other(misfit));
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
        // A constant is checked first: it may be the tag of an enum.
        let is_constant = |(name, _): &(&String, &Value)| {
            properties.and_then(|of| of.get(*name)).is_some_and(|schema| schema.get("const").is_some())
        };
        let constants = fields.iter().filter(is_constant);
        for (name, value) in constants.chain(fields.iter().filter(|field| !is_constant(field))) {
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
    Misfit { path: path.to_owned(), reason: reason.into(), constant: false }
}

fn list<'s>(schema: &'s Map<String, Value>, keyword: &str) -> &'s [Value] {
    schema.get(keyword).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn check_type(kinds: &Value, value: &Value, path: &str) -> Result<(), Misfit> {
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
        _ => false,
    };
    if kinds.is_empty() || kinds.iter().any(is) {
        return Ok(());
    }
    let expected: Vec<&str> = kinds.iter().map(|kind| with_article(kind)).collect();
    Err(misfit(path, format!("expected {}, but got {}", expected.join(" or "), kind_of(value))))
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
    Some(Misfit { path, reason: reasons.join("; or "), constant: false })
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
        Value::Number(number) if number.is_f64() => "a number with a decimal point or an exponent",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
