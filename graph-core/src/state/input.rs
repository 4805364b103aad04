use std::fmt;

use serde_json::Value;

use super::GraphState;

/// What a run starts with; the derive makes a struct whose missing required field does not compile.
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
    /// The start of a fresh run: a base state, and the writes to apply to it through the reducers.
    fn into_start(self) -> Start<S>;

    /// The same for a run that goes on from a state that is there.
    fn into_update(self) -> S::Update;

    /// Reads an input from JSON.
    ///
    /// # Errors
    /// *All* missing, unknown and ill-typed fields, each with its path.
    fn from_json(value: Value) -> Result<Self, InputError>;
}

/// What a run over `S` can begin with: the state's [`Input`], or what stands for one.
///
/// A [workflow](crate::workflow) begins with what its function takes.
#[diagnostic::on_unimplemented(
    message = "a run over `{S}` cannot begin with `{Self}`",
    label = "is no input of `{S}`",
    note = "a run of a graph begins with the input of its state, `Ticket::input(..)`, that of a workflow with what its function takes"
)]
pub trait IntoInput<S: GraphState> {
    /// The input.
    fn into_input(self) -> S::Input;
}

/// How a fresh run begins.
#[derive(Clone, Debug)]
pub struct Start<S: GraphState> {
    /// Required fields without a reducer as given, everything else at its default.
    pub state: S,
    /// What was given besides, to go through the reducers.
    pub update: S::Update,
    /// Indices of the fields that `state` holds as given, for validation.
    pub given: Vec<usize>,
}

/// Everything that is wrong with a JSON input or update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputError {
    what: &'static str,
    state: &'static str,
    problems: Vec<InputProblem>,
    names: Vec<&'static str>,
}

impl InputError {
    /// What is wrong with an input that has fields of these names.
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

    /// The fields that the input has; an update's error does not say.
    pub(super) fn into_names(self) -> Vec<&'static str> {
        self.names
    }

    pub(super) fn into_problems(self) -> Vec<InputProblem> {
        self.problems
    }

    /// Each problem, in the order of the fields.
    pub fn problems(&self) -> &[InputProblem] {
        &self.problems
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.problems.len();
        let plural = if count == 1 { "" } else { "s" };
        write!(f, "the {} of `{}` has {count} problem{plural}", self.what, self.state)?;
        for problem in &self.problems {
            write!(f, "\n  {problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for InputError {}

/// One thing that is wrong with a JSON input or update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputProblem {
    /// Where, as a JSON path: `$.notes[3]`.
    pub path: String,
    /// What is wrong and what would be right.
    pub message: String,
}

impl fmt::Display for InputProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}
