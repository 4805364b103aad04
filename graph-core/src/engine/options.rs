use std::time::Duration;

use crate::graph::Breakpoints;
use crate::run::Stop;

use super::gates::Stops;

/// How many supersteps a run may have unless it says otherwise.
pub const DEFAULT_RECURSION_LIMIT: u64 = 25;

/// What becomes of a node's siblings when it fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailureMode {
    /// They are told to stop. What had finished is kept for whoever steps by hand: a further
    /// [`step`](crate::run::Stepper::step) runs the others. None of it is in the state.
    #[default]
    FailFast,
    /// They run to their end, then the superstep fails with every failure. What has finished is kept as above.
    Collect,
}

/// When a run on a thread waits for its store.
///
/// What a run says of itself —its outcome, its checkpoint events— is durable in all three.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Durability {
    /// Each superstep is durable before the next begins.
    Sync,
    /// Supersteps are stored while the next ones run: in order, with a bound on how many may wait, all of them before the
    /// run ends. A crash loses the last few, which are run again.
    #[default]
    Async,
    /// Only the end, an interrupt or an error is stored, as one checkpoint. A crash loses the run. A run that others shall
    /// wait for ([`OnConflict::Wait`](crate::thread::OnConflict::Wait)) stores its beginning as well.
    Exit,
}

#[derive(Clone, Debug)]
pub(crate) struct RunOptions {
    pub(crate) recursion_limit: u64,
    /// How many tasks may run at the same time; all when it is not said.
    pub(crate) max_concurrency: Option<usize>,
    pub(crate) superstep_timeout: Option<Duration>,
    /// As the graph says, unless the run does.
    pub(crate) failure_mode: Option<FailureMode>,
    /// Of a run on a thread.
    pub(crate) durability: Durability,
    /// Where to stop besides where the graph says.
    pub(crate) breakpoints: Breakpoints<Stops>,
    /// Sleeps that last longer are not waited for; of a run on a thread.
    pub(crate) longest_sleep: Option<Duration>,
    /// What stops it from outside.
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
