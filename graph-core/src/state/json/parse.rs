//! Reads the values of fields.

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::{Deserializer, Track};

use crate::contain::{bounded, contained};
use crate::reducers::{Reducer, guarded};

use super::super::{Change, InputProblem, JsonOf, Parsed};
use super::path;

/// The deserializer of one field of a JSON input or update. It tracks the path inside the value.
pub type FieldDeserializer<'a, 'b> = Deserializer<'a, 'b, Value>;

/// Reads the value of `key`.
pub fn parse_value<T: DeserializeOwned>(key: &str, value: Value) -> Parsed<T> {
    parse_value_with(key, value, |deserializer| T::deserialize(deserializer))
}

/// Like [`parse_value`], through the field's own `with` or `deserialize_with` function.
pub fn parse_value_with<T>(
    key: &str,
    value: Value,
    read: impl FnOnce(FieldDeserializer<'_, '_>) -> Result<T, serde_json::Error>,
) -> Parsed<T> {
    let mut track = Track::new();
    let message = match contained(|| read(Deserializer::new(value, &mut track))) {
        Ok(Ok(value)) => return Parsed::Write(value),
        // The message may quote a value of any length.
        Ok(Err(error)) => bounded(&error.to_string()),
        Err(panic) => format!("its code panicked: {panic}"),
    };
    Parsed::Invalid(InputProblem { path: path::inside(key, &track.path()), message })
}

/// Reads a write to `key`: the reducer's update or, for an overwrite, the field's new value.
pub fn parse_change<R, T>(key: &str, value: Value, of: JsonOf) -> Parsed<Change<R, T>>
where
    R: Reducer<T, Update: DeserializeOwned>,
    T: Clone + DeserializeOwned,
{
    match of {
        JsonOf::Overwrite => parse_value(key, value).map(Change::Overwrite),
        of => update::<R, T>(key, parse_value(key, value), of),
    }
}

/// Wraps the reducer's update. That of an input is restricted to everything that a client may write.
fn update<R: Reducer<T>, T: Clone>(key: &str, parsed: Parsed<R::Update>, of: JsonOf) -> Parsed<Change<R, T>> {
    match parsed {
        Parsed::Write(update) if of == JsonOf::Input => match guarded(|| R::of_input(update)) {
            Ok(update) => Parsed::Write(Change::Update(update)),
            Err(error) => {
                Parsed::Invalid(InputProblem { path: path::of_key(key), message: error.to_string() })
            }
        },
        parsed => parsed.map(Change::Update),
    }
}

/// Like [`parse_change`], through the field's own function, for reducers that take the field's type.
pub fn parse_with<R, T>(
    key: &str,
    value: Value,
    of: JsonOf,
    read: impl FnOnce(FieldDeserializer<'_, '_>) -> Result<T, serde_json::Error>,
) -> Parsed<Change<R, T>>
where
    R: Reducer<T, Update = T>,
    T: Clone,
{
    let parsed = parse_value_with(key, value, read);
    if of == JsonOf::Overwrite { parsed.map(Change::Overwrite) } else { update::<R, T>(key, parsed, of) }
}

/// Like [`parse_change`], with overwrites through the field's own function. Updates have another type and do not use it.
pub fn parse_overwrite_with<R, T>(
    key: &str,
    value: Value,
    of: JsonOf,
    read: impl FnOnce(FieldDeserializer<'_, '_>) -> Result<T, serde_json::Error>,
) -> Parsed<Change<R, T>>
where
    R: Reducer<T, Update: DeserializeOwned>,
    T: Clone,
{
    match of {
        JsonOf::Overwrite => parse_value_with(key, value, read).map(Change::Overwrite),
        of => update::<R, T>(key, parse_value(key, value), of),
    }
}

impl<W> Parsed<W> {
    /// Replaces the message of a problem: serde's messages quote the value, and the value of an excluded field is secret.
    #[doc(hidden)]
    pub fn withheld(self, key: &str) -> Self {
        match self {
            Self::Invalid(_) => Self::Invalid(InputProblem {
                path: path::of_key(key),
                message: "the value does not fit (details are withheld because the field is excluded)"
                    .to_owned(),
            }),
            parsed => parsed,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only read")]
    struct Note {
        text: String,
    }

    fn check<T: DeserializeOwned>(value: Value, expected: &str) {
        match parse_value::<T>("notes", value) {
            Parsed::Invalid(problem) => assert_eq!(problem.to_string(), expected),
            _ => panic!("read, although: {expected}"),
        }
    }

    #[test]
    fn problem_has_path_and_expectation() {
        check::<Vec<Note>>(
            json!([{"text": "a"}, {"text": 3}]),
            "$.notes[1].text: invalid type: integer `3`, expected a string",
        );
        check::<Vec<Note>>(json!([{}]), "$.notes[0]: missing field `text`");
        check::<u8>(json!(300), "$.notes: invalid value: integer `300`, expected u8");
        check::<String>(json!(null), "$.notes: invalid type: null, expected a string");
        check::<std::collections::BTreeMap<String, u8>>(
            json!({"a b": "x"}),
            "$.notes[\"a b\"]: invalid type: string \"x\", expected u8",
        );
    }

    #[test]
    fn custom_function_reads_the_value() {
        let parsed = parse_value_with("n", json!("12"), |deserializer| {
            String::deserialize(deserializer)?.parse::<u8>().map_err(serde::de::Error::custom)
        });
        assert!(matches!(parsed, Parsed::Write(12)));
    }

    #[test]
    fn withheld_problem_does_not_quote_the_value() {
        match parse_value::<u8>("token", json!("hunter2")).withheld("token") {
            Parsed::Invalid(problem) => assert!(!problem.to_string().contains("hunter2"), "{problem}"),
            parsed => panic!("{parsed:?}"),
        }
    }
}
