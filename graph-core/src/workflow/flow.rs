use std::sync::Arc;

use crate::GraphState;
use crate::node::Payload;
use crate::state::IntoInput;

use super::Returned;
use super::held::{Given, Left};

/// What a run of a workflow holds: what it was given, what the function has returned, and what it keeps for the next run.
///
/// `I` is what the function takes, `R` what it returns: a value, or a [`Final`](super::Final).
///
/// In a dump it has the fields `input`, `value` (what the function has returned last) and `saved` (what it has kept besides).
#[derive(GraphState)]
#[state(crate = crate)]
pub struct Flow<I: Payload, R: Returned> {
    #[state(input, rename = "input")]
    given: Given<I>,
    value: Left<R::Value>,
    saved: Left<R::Saved>,
    /// Whether a run on this thread has ever returned.
    #[state(exclude)]
    had: bool,
    /// Whether this one has.
    #[state(ephemeral, exclude)]
    returned: bool,
}

impl<I: Payload, R: Returned> Clone for Flow<I, R> {
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

impl<I: Payload, R: Returned> Flow<I, R> {
    /// The input that begins a run with this: for a [mapped](crate::subgraph) node, and wherever an input is kept. A run takes
    /// it as it is.
    pub fn begin(input: I) -> FlowInput<I, R> {
        Self::input(Given::new(input))
    }

    /// An update that gives the next run another previous result: `thread.update(Flow::remember(100), as_node(END))`.
    pub fn remember(saved: R::Saved) -> FlowUpdate<I, R> {
        match R::value_of(saved) {
            Ok(value) => Self::update().value(Left::new(value)).had(true),
            Err(saved) => Self::update().saved(Left::new(saved)).had(true),
        }
    }

    /// What the function has returned; `None` while it is under way.
    pub fn value(&self) -> Option<&R::Value> {
        self.value.get().filter(|_| self.returned)
    }

    /// What the next run finds as its previous result: what was returned or [kept](super::Final) last, by a run that has come
    /// to its end.
    pub fn previous(&self) -> Option<&R::Saved> {
        let kept = R::KEEPS.then(|| self.saved.get());
        kept.unwrap_or_else(|| self.value.get().and_then(R::saved)).filter(|_| self.had)
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

/// A run begins with what the function takes.
#[diagnostic::do_not_recommend]
impl<I: Payload, R: Returned> IntoInput<Flow<I, R>> for I {
    fn into_input(self) -> FlowInput<I, R> {
        Flow::begin(self)
    }
}

/// A text is begun with as it is written.
#[diagnostic::do_not_recommend]
impl<R: Returned> IntoInput<Flow<String, R>> for &str {
    fn into_input(self) -> FlowInput<String, R> {
        self.to_owned().into_input()
    }
}
