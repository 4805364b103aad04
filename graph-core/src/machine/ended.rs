use crate::Outcome;
use crate::error::{Error, ErrorKind};
use crate::state::GraphState as _;

use super::{Machine, RunState};

/// The result of a machine that has ended.
#[non_exhaustive]
pub struct Ended<M: Machine> {
    /// The output.
    pub output: M::Output,
    /// The final state.
    pub state: M::State,
}

impl<R: RunState> Outcome<R> {
    /// Returns the output and the state of a machine that has ended.
    ///
    /// # Errors
    /// [`NoOutput`](ErrorKind::NoOutput) if the run has paused at an interrupt or a breakpoint, or its
    /// thread was finished by an update.
    pub fn ended(self) -> Result<Ended<R::Machine>, Error> {
        let waits = self.waits_for();
        match self.into_state().__into_parts() {
            (state, Some(output)) if waits.is_empty() => Ok(Ended { output, state }),
            _ => Err(Error::new(R::Machine::NAME, ErrorKind::NoOutput { waits })),
        }
    }
}

impl<M: Machine> std::fmt::Debug for Ended<M> {
    /// Formats the state by its dump rules, so that excluded fields stay out of logs.
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
