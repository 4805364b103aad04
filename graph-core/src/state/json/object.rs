//! Reads inputs, and collects all problems.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::super::{
    FieldWrite, GraphState, Input, InputError, InputProblem, JsonOf, Parsed, UnknownKey, Update, Writes,
};
use super::parse::parse_value;
use super::{OVERWRITE, kind_of, overflow, path, suggest::suggest};
use crate::payload::may_overflow_value;

/// A reader of a JSON input. It takes the fields one by one and collects the problems.
#[derive(Debug)]
pub struct JsonInput {
    state: &'static str,
    fields: Map<String, Value>,
    names: Vec<&'static str>,
    /// Functions that return the input names of flattened states; called only to explain an unknown key.
    flattened: Vec<fn() -> Vec<&'static str>>,
    problems: Vec<InputProblem>,
    /// The unknown keys so far; `None` if they are problems.
    unknown: Option<Vec<UnknownKey>>,
    not_an_object: bool,
    /// `true` if a number may be too large for its type.
    large: bool,
}

impl JsonInput {
    /// Starts to read an input of `state` that refuses unknown keys.
    pub(crate) fn strict(state: &'static str, value: Value) -> Self {
        Self::new(state, value, None)
    }

    /// Starts to read an input of `state` that collects unknown keys.
    pub(crate) fn lenient(state: &'static str, value: Value) -> Self {
        Self::new(state, value, Some(Vec::new()))
    }

    fn new(state: &'static str, value: Value, unknown: Option<Vec<UnknownKey>>) -> Self {
        let large = may_overflow_value(&value);
        let (fields, problems) = match value {
            Value::Object(fields) => (fields, Vec::new()),
            other => {
                let message =
                    format!("expected an object with the fields of `{state}`, found {}", kind_of(&other));
                (Map::new(), vec![InputProblem { path: "$".to_owned(), message }])
            }
        };
        let not_an_object = !problems.is_empty();
        let (names, flattened) = (Vec::new(), Vec::new());
        Self { state, fields, names, flattened, problems, unknown, not_an_object, large }
    }

    /// Takes a required field. The first name is the field's, the others are aliases.
    pub fn required<T: DeserializeOwned>(&mut self, names: &[&'static str]) -> Option<T> {
        self.required_with(names, parse_value)
    }

    /// Like [`required`](Self::required), through the field's own reader.
    pub fn required_with<T>(
        &mut self,
        names: &[&'static str],
        read: fn(&str, Value) -> Parsed<T>,
    ) -> Option<T> {
        let name = names.first().copied().unwrap_or_default();
        match self.take(names) {
            Some((key, value)) => self.read(key, value, read),
            None => {
                // If the value is not an object, that is the only problem.
                if !self.not_an_object {
                    self.problem(path::of_key(name), "required, but missing".to_owned());
                }
                None
            }
        }
    }

    /// Takes a required field that cannot be read: JSON never has values of untracked fields.
    pub fn untracked<T>(&mut self, names: &[&'static str]) -> Option<T> {
        let given = self.take(names).map(|(key, _)| key);
        if !self.not_an_object {
            let name = given.or(names.first().copied()).unwrap_or_default();
            let message = format!(
                "required and untracked, so JSON cannot contain it: build the input with `{}::input(..)`, or give the field \
                 a `default` or `from_context` instead of `input`",
                self.state
            );
            self.problem(path::of_key(name), message);
        }
        None
    }

    /// Takes an optional field.
    pub fn optional<S, W: FieldWrite<S>>(&mut self, names: &[&'static str], writes: &mut Writes<W>) {
        if let Some((key, value)) = self.take(names)
            && let Some(write) = self.read(key, value, |key, value| W::__parse(key, value, JsonOf::Input))
        {
            writes.push(write);
        }
    }

    /// Takes the input of a flattened state, whose fields are on the same level.
    pub fn flattened<S: GraphState>(&mut self) -> Option<S::Input> {
        self.flattened.push(names_of::<S>);
        // The flattened state knows its names and aliases: parsing a null finds its keys without the values.
        let is_own = |key: &str| {
            let parsed = <S::Update as Update<S>>::Write::__parse(key, Value::Null, JsonOf::Update);
            !matches!(parsed, Parsed::Unknown(_))
        };
        let (own, others) = std::mem::take(&mut self.fields).into_iter().partition(|(key, _)| is_own(key));
        self.fields = others;
        if self.not_an_object {
            return None;
        }
        let unknown = self.unknown.is_some().then(Vec::new);
        match S::Input::__read(Self::new(S::NAME, Value::Object(own), unknown)) {
            Ok((input, unknown)) => {
                self.unknown.iter_mut().for_each(|all| all.extend_from_slice(&unknown));
                Some(input)
            }
            Err(error) => {
                self.problems.extend(error.into_problems());
                None
            }
        }
    }

    /// Returns the input if there are no problems, with the unknown keys that were not problems.
    ///
    /// # Errors
    /// Every collected problem, and each unknown key unless the input is read leniently.
    pub fn finish<S: GraphState>(
        mut self,
        build: impl FnOnce() -> Option<S::Input>,
    ) -> Result<(S::Input, Vec<UnknownKey>), InputError> {
        self.sort_out_unknown_keys();
        if self.problems.is_empty() {
            match build() {
                None => self.problem("$".to_owned(), "a required field is missing".to_owned()),
                Some(input) if !self.large => return Ok((input, self.unknown.unwrap_or_default())),
                Some(input) => {
                    self.problems = overflow::problems_of::<S>(&input);
                    if self.problems.is_empty() {
                        return Ok((input, self.unknown.unwrap_or_default()));
                    }
                }
            }
        }
        Err(InputError::of_input(self.state, self.problems, self.names))
    }

    /// Turns the keys that no field has taken into problems, or into unknown keys if the input is read leniently.
    fn sort_out_unknown_keys(&mut self) {
        let keys = std::mem::take(&mut self.fields);
        if !keys.is_empty() {
            self.names.extend(std::mem::take(&mut self.flattened).into_iter().flat_map(|names| names()));
        }
        for key in keys.into_iter().map(|(key, _)| key) {
            let path = path::of_key(&key);
            match &mut self.unknown {
                // The wish to overwrite fields is refused and not ignored.
                Some(unknown) if key != OVERWRITE => {
                    let suggestion = suggest(&key, self.names.iter().copied());
                    unknown.push(UnknownKey { path, key, suggestion });
                }
                _ => {
                    let message = unknown(&key, &self.names, "input");
                    self.problem(path, message);
                }
            }
        }
    }

    fn take(&mut self, names: &[&'static str]) -> Option<(&'static str, Value)> {
        self.names.extend(names.first());
        let mut found: Option<(&'static str, Value)> = None;
        for &name in names {
            let Some(value) = self.fields.remove(name) else { continue };
            match &found {
                None => found = Some((name, value)),
                Some((first, _)) => {
                    self.problem(path::of_key(name), given_twice(first));
                }
            }
        }
        found
    }

    fn read<T>(&mut self, key: &str, value: Value, read: fn(&str, Value) -> Parsed<T>) -> Option<T> {
        match read(key, value) {
            Parsed::Write(value) => Some(value),
            Parsed::Invalid(problem) => {
                self.problems.push(problem);
                None
            }
            Parsed::Unknown(_) => {
                self.problem(path::of_key(key), "not a field that can be read".to_owned());
                None
            }
        }
    }

    fn problem(&mut self, path: String, message: String) {
        self.problems.push(InputProblem { path, message });
    }
}

/// Returns the names of a state's input fields, from the error for a key that no field can have.
fn names_of<S: GraphState>() -> Vec<&'static str> {
    let no_field = Map::from_iter([("$".to_owned(), Value::Null)]);
    S::Input::from_json(Value::Object(no_field)).err().map(InputError::into_names).unwrap_or_default()
}

/// The message for a second key of the field that `first` has given.
pub(super) fn given_twice(first: &str) -> String {
    format!("the same field as `{first}`, which is also given")
}

/// The message for a key that is not among `names`, the fields of an `of` (an input or an update).
pub(super) fn unknown(key: &str, names: &[&'static str], of: &str) -> String {
    if key == OVERWRITE && of == "input" {
        return "an input cannot overwrite fields, only an update can".to_owned();
    }
    match suggest(key, names.iter().copied()) {
        Some(name) => format!("unknown field; did you mean `{name}`?"),
        None if names.is_empty() => format!("unknown field; this {of} has no fields"),
        None => format!("unknown field; this {of} has the fields `{}`", names.join("`, `")),
    }
}
