use std::sync::Arc;

use crate::GraphState;
use crate::erased::Payload;
use crate::state::IntoInput;

use super::WorkflowResult;
use super::values::{Given, Left};

/// The state of a workflow: the input, the value that the function has returned, and the result saved for the next run.
///
/// `I` is the input type of the function. `R` is its result type: a value, or a [`Final`](super::Final).
///
/// A dump has the fields `input`, `value` (the value that was returned last) and `saved` (the saved result of a
/// [`Final`](super::Final)).
#[derive(GraphState)]
#[state(crate = crate, bound())]
pub struct Flow<I: Payload, R: WorkflowResult> {
    #[state(input, rename = "input")]
    given: Given<I>,
    value: Left<R::Value>,
    saved: Left<R::Saved>,
    /// `true` if a run on this thread has returned.
    #[state(exclude)]
    had: bool,
    /// `true` if the current run has returned.
    #[state(ephemeral, exclude)]
    returned: bool,
}

impl<I: Payload, R: WorkflowResult> Clone for Flow<I, R> {
    fn clone(&self) -> Self {
        Self {
            given: self.given.clone(),
            value: self.value.clone(),
            saved: self.saved.clone(),
            had: self.had,
            returned: self.returned,
        }
    }
}

impl<I: Payload, R: WorkflowResult> Flow<I, R> {
    /// Returns the input of a run. A run also accepts the bare value; use this function for [mapped](crate::subgraph)
    /// nodes, or to store an input.
    pub fn begin(input: I) -> FlowInput<I, R> {
        Self::input(Given::new(input))
    }

    /// Returns an update that replaces the previous result for the next run: `thread.update(Flow::remember(100),
    /// as_node(END))`.
    pub fn remember(saved: R::Saved) -> FlowUpdate<I, R> {
        match R::value_of(saved) {
            Ok(value) => Self::update().value(Left::new(value)).had(true),
            Err(saved) => Self::update().saved(Left::new(saved)).had(true),
        }
    }

    /// Returns the value that the function has returned in this run, or `None` before that. For the value of the last
    /// run, see [`previous`](Self::previous).
    pub fn value(&self) -> Option<&R::Value> {
        self.value.get().filter(|_| self.returned)
    }

    /// Returns the previous result for the next run: the value that the last finished run returned, or the one it saved
    /// with [`Final`](super::Final).
    pub fn previous(&self) -> Option<&R::Saved> {
        let saved = R::KEEPS.then(|| self.saved.get());
        saved.unwrap_or_else(|| self.value.get().and_then(R::saved)).filter(|_| self.had)
    }

    pub(super) fn given(&self) -> &Given<I> {
        &self.given
    }

    pub(super) fn returning(returned: R) -> FlowUpdate<I, R> {
        let (value, saved) = returned.into_parts();
        let update = Self::update().value(Left::new(value)).had(true).returned(true);
        match saved {
            Some(saved) => update.saved(Left::new(saved)),
            None => update,
        }
    }

    pub(super) fn into_value(self) -> Option<Arc<R::Value>> {
        self.value.into_shared().filter(|_| self.returned)
    }
}

/// A run accepts the function's input directly.
#[diagnostic::do_not_recommend]
impl<I: Payload, R: WorkflowResult> IntoInput<Flow<I, R>> for I {
    fn into_input(self) -> FlowInput<I, R> {
        Flow::begin(self)
    }
}

/// A run of a function over `String` accepts a `&str`.
#[diagnostic::do_not_recommend]
impl<R: WorkflowResult> IntoInput<Flow<String, R>> for &str {
    fn into_input(self) -> FlowInput<String, R> {
        self.to_owned().into_input()
    }
}
