use std::sync::Arc;

use crate::error::{Error, ErrorKind};
use crate::node::Payload;
use crate::run::Outcome;
use crate::state::GraphState as _;

use super::{Flow, Returned};

impl<I: Payload, R: Returned<Value: Clone>> Outcome<Flow<I, R>> {
    /// What the function of a workflow has returned. (By reference, and of a run that is under way, it is
    /// [`Flow::value`].)
    ///
    /// # Errors
    /// [`NotEnded`](ErrorKind::MachineNotEnded): the run has stopped on the way, at questions or breakpoints, or its thread was
    /// finished from outside.
    pub fn value(self) -> Result<R::Value, Error> {
        let waits = self.waits_for();
        // What is left to run is the function, and an error of a workflow has its name.
        let function = self.pause().and_then(|pause| pause.next().first().cloned());
        match self.into_state().into_value() {
            Some(value) if waits.is_empty() => Ok(Arc::unwrap_or_clone(value)),
            _ => Err(Error::new(
                function.as_deref().unwrap_or(Flow::<I, R>::NAME),
                ErrorKind::MachineNotEnded { waits },
            )),
        }
    }
}
