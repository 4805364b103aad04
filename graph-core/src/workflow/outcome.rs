use std::sync::Arc;

use crate::Outcome;
use crate::erased::Payload;
use crate::error::{Error, ErrorKind};
use crate::state::GraphState as _;

use super::{Flow, WorkflowResult};

impl<I: Payload, R: WorkflowResult<Value: Clone>> Outcome<Flow<I, R>> {
    /// Returns the value that the function of a workflow has returned. [`Flow::value`] returns it by reference, and
    /// works on the state of an unfinished run.
    ///
    /// # Errors
    /// [`NoOutput`](ErrorKind::NoOutput) if the run has paused at an interrupt or a breakpoint, or its
    /// thread was finished by an update.
    pub fn value(self) -> Result<R::Value, Error> {
        let waits = self.waits_for();
        // The pending task is the function, whose name an error of a workflow has.
        let function = self.pause().and_then(|pause| pause.next().first().cloned());
        match self.into_state().into_value() {
            Some(value) if waits.is_empty() => Ok(Arc::unwrap_or_clone(value)),
            _ => Err(Error::new(
                function.as_deref().unwrap_or(Flow::<I, R>::NAME),
                ErrorKind::NoOutput { waits },
            )),
        }
    }
}
