use crate::error::{Error, ErrorKind};
use crate::run::Outcome;
use crate::state::GraphState as _;

use super::{Machine, RunState};

/// What a machine has come to: its output, and its state.
pub struct Ended<M: Machine> {
    /// What it ended with.
    pub output: M::Output,
    /// The state at its end.
    pub state: M::State,
}

impl<R: RunState> Outcome<R> {
    /// The output and the state of a machine that has ended.
    ///
    /// # Errors
    /// [`NotEnded`](ErrorKind::MachineNotEnded): it has stopped on the way, at questions or breakpoints, or its thread was finished
    /// from outside.
    pub fn ended(self) -> Result<Ended<R::Machine>, Error> {
        let waits = self.waits_for();
        match self.into_state().__into_parts() {
            (state, Some(output)) if waits.is_empty() => Ok(Ended { output, state }),
            _ => Err(Error::new(R::Machine::NAME, ErrorKind::MachineNotEnded { waits })),
        }
    }
}

impl<M: Machine> std::fmt::Debug for Ended<M> {
    /// By the dump rules: what a state keeps to itself does not get into logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let output = serde_json::to_value(&self.output);
        let mut shown = f.debug_struct("Ended");
        match &output {
            Ok(output) => shown.field("output", &format_args!("{output}")),
            Err(_) => shown.field("output", &format_args!("..")),
        };
        shown.field("state", &self.state.dump()).finish()
    }
}
