use std::time::Duration;

use crate::options::AddedBreakpoints;

use super::breakpoints::Breakpoints;
use super::stop::Stop;

/// The default recursion limit: the number of supersteps that a run may have.
pub const DEFAULT_RECURSION_LIMIT: u64 = 25;

/// The treatment of the other tasks of a superstep after one task has failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailureMode {
    /// Cancels the other tasks. Results of finished tasks are kept but not applied to the state: a further
    /// [`step`](crate::run::Stepper::step) runs only the other tasks.
    #[default]
    FailFast,
    /// Lets the other tasks end, and then fails the superstep with all failures. Finished results are kept as for
    /// [`FailFast`](Self::FailFast).
    Collect,
}

/// The points at which a run on a thread waits for its checkpointer.
///
/// In all three modes the outcome of a run, its error and its checkpoint events are durable before the run reports
/// them. Other events may be ahead of the store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Durability {
    /// Each superstep is durable before the next one begins.
    Sync,
    /// Supersteps are stored while later ones run. They are stored in order, a bounded number may wait, and all are
    /// durable before the run ends. After a crash, the last few supersteps may be lost and run again.
    #[default]
    Async,
    /// Only the end of the run, an interrupt or an error is stored, as one checkpoint. A crash loses the whole run.
    ///
    /// A run that other runs have to wait for ([`OnConflict::Wait`](crate::thread::OnConflict::Wait)) also stores its
    /// beginning.
    Exit,
}

#[derive(Clone, Debug)]
pub(crate) struct RunOptions {
    pub(crate) recursion_limit: u64,
    /// The maximum number of tasks that run at the same time; unlimited if `None`.
    pub(crate) max_concurrency: Option<usize>,
    pub(crate) superstep_timeout: Option<Duration>,
    /// Overrides the graph's failure mode.
    pub(crate) failure_mode: Option<FailureMode>,
    /// Applies to a run on a thread.
    pub(crate) durability: Durability,
    /// Breakpoints in addition to those of the graph.
    pub(crate) breakpoints: Breakpoints<AddedBreakpoints>,
    /// Longer sleeps suspend their task. Applies to a run on a thread.
    pub(crate) longest_sleep: Option<Duration>,
    /// The handle that stops the run from outside.
    pub(crate) stop: Option<Stop>,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            recursion_limit: DEFAULT_RECURSION_LIMIT,
            max_concurrency: None,
            superstep_timeout: None,
            failure_mode: None,
            durability: Durability::default(),
            breakpoints: Breakpoints::default(),
            longest_sleep: None,
            stop: None,
        }
    }
}
