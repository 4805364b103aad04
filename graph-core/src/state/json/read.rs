//! Reads updates and inputs.

use serde::{Deserialize, Deserializer, de::Error};
use serde_json::{Map, Value};

use super::super::{FieldWrite, GraphState, Input, InputError, InputProblem, JsonOf, Parsed, Update, Writes};
use crate::payload::may_overflow_value;

use super::object::{given_twice, unknown};
use super::{OVERWRITE, kind_of, overflow, path};

/// Deserializes an update, and returns all problems in one error.
pub fn deserialize_update<'de, S: GraphState, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<S::Update, D::Error> {
    read_update::<S>(Value::deserialize(deserializer)?).map_err(D::Error::custom)
}

/// Deserializes an input, and returns all problems in one error.
pub fn deserialize_input<'de, S: GraphState, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<S::Input, D::Error> {
    S::Input::from_json(Value::deserialize(deserializer)?).map_err(D::Error::custom)
}

/// Reads an update: an object by field, or an array of such objects.
pub(in super::super) fn read_update<S: GraphState>(value: Value) -> Result<S::Update, InputError> {
    let mut reader = Reader::<S> { writes: Writes::default(), problems: Vec::new() };
    match value {
        Value::Array(objects) => {
            for (index, object) in objects.into_iter().enumerate() {
                reader.object(&format!("$[{index}]"), object);
            }
        }
        object => reader.object("$", object),
    }
    if reader.problems.is_empty() {
        Ok(S::Update::__from_writes(reader.writes))
    } else {
        Err(InputError::of_update(S::NAME, reader.problems))
    }
}

struct Reader<S: GraphState> {
    writes: Writes<<S::Update as Update<S>>::Write>,
    problems: Vec<InputProblem>,
}

impl<S: GraphState> Reader<S> {
    fn object(&mut self, at: &str, value: Value) {
        let Some(mut fields) = self.expect_object(at, value) else { return };
        let overwritten = fields.remove(OVERWRITE);
        self.fields(at, fields, JsonOf::Update);
        if let Some(value) = overwritten {
            let mut at = at.to_owned();
            path::push_key(&mut at, OVERWRITE);
            if let Some(fields) = self.expect_object(&at, value) {
                self.fields(&at, fields, JsonOf::Overwrite);
            }
        }
    }

    fn expect_object(&mut self, at: &str, value: Value) -> Option<Map<String, Value>> {
        match value {
            Value::Object(fields) => Some(fields),
            other => {
                let found = kind_of(&other);
                let message = format!("expected an object with fields of `{}`, found {found}", S::NAME);
                self.problems.push(InputProblem { path: at.to_owned(), message });
                None
            }
        }
    }

    fn fields(&mut self, at: &str, fields: Map<String, Value>, of: JsonOf) {
        let mut given: Vec<(usize, String)> = Vec::new();
        for (key, value) in fields {
            let large = may_overflow_value(&value);
            match <S::Update as Update<S>>::Write::__parse(&key, value, of) {
                Parsed::Write(write) => {
                    let field = write.field();
                    if large && let Some(problem) = overflow::problem_of::<S>(at, &key, &write) {
                        self.problems.push(problem);
                    }
                    match given.iter().find(|(other, _)| *other == field) {
                        None => self.writes.push(write),
                        // An object has no order, so neither of the two is the last one.
                        Some((_, first)) => {
                            let mut path = at.to_owned();
                            path::push_key(&mut path, &key);
                            self.problems.push(InputProblem { path, message: given_twice(first) });
                        }
                    }
                    given.push((field, key));
                }
                Parsed::Invalid(problem) => {
                    let inside = problem.path.strip_prefix('$').unwrap_or(&problem.path);
                    self.problems.push(InputProblem { path: format!("{at}{inside}"), ..problem });
                }
                Parsed::Unknown(_) => {
                    let specs = (0..S::FIELD_COUNT).filter_map(S::field).filter(|spec| !spec.untracked);
                    let names: Vec<&'static str> = specs.map(|spec| spec.name).collect();
                    let mut path = at.to_owned();
                    path::push_key(&mut path, &key);
                    self.problems.push(InputProblem { path, message: unknown(&key, &names, "update") });
                }
            }
        }
    }
}
