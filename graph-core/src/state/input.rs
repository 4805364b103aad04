use std::fmt;

use serde_json::Value;

use super::{GraphState, JsonInput};

/// The input of a run. The derive generates a struct whose missing required field does not compile.
///
/// ```
/// use superstep::GraphState;
/// use superstep::state::Input;
/// use serde_json::json;
///
/// #[derive(GraphState, Clone)]
/// struct Ticket {
///     #[state(input)]
///     question: String,
///     #[state(input, reducer = append)]
///     notes: Vec<String>,
/// }
///
/// let input = Ticket::input("why?").notes(["urgent".to_owned()]);
/// assert_eq!(input.into_start().state.question, "why?");
///
/// let error = TicketInput::from_json(json!({"qestion": "why?", "notes": ["urgent", 3]})).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "the input of `Ticket` has 3 problems
///   $.question: required, but missing
///   $.notes[1]: invalid type: integer `3`, expected a string
///   $.qestion: unknown field; did you mean `question`?"
/// );
/// ```
pub trait Input<S: GraphState>: IntoInput<S> + Clone + Send + 'static {
    /// Returns the start of a fresh run: a base state, and the writes that the reducers apply to it.
    fn into_start(self) -> Start<S>;

    /// Returns the input as an update, for a run that continues from an existing state.
    fn into_update(self) -> S::Update;

    /// Reads an input from JSON.
    ///
    /// # Errors
    /// *All* missing, unknown and ill-typed fields, each with its path.
    fn from_json(value: Value) -> Result<Self, InputError> {
        Self::__read(JsonInput::strict(S::NAME, value)).map(|(input, _)| input)
    }

    /// Reads an input from JSON that may have keys which are no fields of the input, and returns these keys.
    ///
    /// It suits clients that send more than this program knows, such as those of a later version. A key is unknown if it is
    /// no field of the state or of a flattened one, or a field that is not part of the input. All other rules are those of
    /// [`from_json`](Self::from_json); `$overwrite` is refused too.
    ///
    /// ```
    /// use superstep::GraphState;
    /// use superstep::state::Input;
    /// use serde_json::json;
    ///
    /// #[derive(GraphState, Clone)]
    /// struct Ticket {
    ///     #[state(input)]
    ///     question: String,
    ///     #[state(input, reducer = append)]
    ///     notes: Vec<String>,
    /// }
    ///
    /// # fn main() -> Result<(), superstep::state::InputError> {
    /// let (input, unknown) = TicketInput::from_json_lenient(json!({"question": "why?", "note": [], "v": 2}))?;
    /// assert_eq!(input.into_start().state.question, "why?");
    /// assert_eq!(unknown[0].to_string(), "$.note: unknown field; did you mean `notes`?");
    /// assert_eq!(unknown[1].path, "$.v");
    ///
    /// // Missing and ill-typed fields are still errors.
    /// assert!(TicketInput::from_json_lenient(json!({"question": 3, "v": 2})).is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// *All* missing and ill-typed fields, each with its path.
    fn from_json_lenient(value: Value) -> Result<(Self, Vec<UnknownKey>), InputError> {
        Self::__read(JsonInput::lenient(S::NAME, value))
    }

    #[doc(hidden)]
    fn __read(json: JsonInput) -> Result<(Self, Vec<UnknownKey>), InputError>;
}

/// A value that starts a run over `S`: the state's [`Input`], or a value that converts into one.
///
/// A [workflow](crate::workflow) starts with the argument of its function.
#[diagnostic::on_unimplemented(
    message = "a run over `{S}` cannot start with `{Self}`",
    label = "not an input of `{S}`",
    note = "a graph starts with the input of its state, such as `Ticket::input(..)`; a workflow starts with the argument of its function"
)]
pub trait IntoInput<S: GraphState> {
    /// Converts the value into the input.
    fn into_input(self) -> S::Input;
}

/// The start of a fresh run.
#[derive(Clone, Debug)]
pub struct Start<S: GraphState> {
    /// The base state: required fields without a reducer as given, all other fields at their defaults.
    pub state: S,
    /// The other given fields, which go through the reducers.
    pub update: S::Update,
    /// The indices of the fields that `state` contains as given, for validation.
    pub given: Vec<usize>,
}

/// All problems of a JSON input or update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputError {
    what: &'static str,
    state: &'static str,
    problems: Vec<InputProblem>,
    names: Vec<&'static str>,
}

impl InputError {
    /// An error of an input with the fields `names`.
    pub(super) fn of_input(
        state: &'static str,
        problems: Vec<InputProblem>,
        names: Vec<&'static str>,
    ) -> Self {
        Self { what: "input", state, problems, names }
    }

    pub(super) fn of_update(state: &'static str, problems: Vec<InputProblem>) -> Self {
        Self { what: "update", state, problems, names: Vec::new() }
    }

    /// Returns the consequence of the error, as the first line of a message.
    pub(crate) fn refusal(&self) -> &'static str {
        match self.what {
            "update" => "the update does not fit the state",
            _ => "the run cannot start: its input does not fit the state",
        }
    }

    /// Returns the names of the input's fields; empty for the error of an update.
    pub(super) fn into_names(self) -> Vec<&'static str> {
        self.names
    }

    pub(super) fn into_problems(self) -> Vec<InputProblem> {
        self.problems
    }

    /// Returns the problems, in the order of the fields.
    pub fn problems(&self) -> &[InputProblem] {
        &self.problems
    }
}

/// The number of problems in the error's text. JSON from outside may have any number of unknown keys.
const LISTED: usize = 64;

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.problems.len();
        let plural = if count == 1 { "" } else { "s" };
        write!(f, "the {} of `{}` has {count} problem{plural}", self.what, self.state)?;
        for problem in self.problems.iter().take(LISTED) {
            write!(f, "\n  {problem}")?;
        }
        match count.saturating_sub(LISTED) {
            0 => Ok(()),
            more => write!(f, "\n  … and {more} more"),
        }
    }
}

impl std::error::Error for InputError {}

/// One problem of a JSON input or update.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InputProblem {
    /// The place as a JSON path: `$.notes[3]`.
    pub path: String,
    /// The problem and how to solve it.
    pub message: String,
}

impl fmt::Display for InputProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

/// A key of a JSON input that is no field of the input; see [`Input::from_json_lenient`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownKey {
    /// The place as a JSON path: `$.nots`.
    pub path: String,
    /// The key as given.
    pub key: String,
    /// The name of the input field that was probably meant.
    pub suggestion: Option<&'static str>,
}

impl fmt::Display for UnknownKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: unknown field", self.path)?;
        match self.suggestion {
            Some(name) => write!(f, "; did you mean `{name}`?"),
            None => Ok(()),
        }
    }
}
