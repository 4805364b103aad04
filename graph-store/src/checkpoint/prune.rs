use std::sync::Arc;
use std::time::SystemTime;

/// The conditions under which [`prune`](super::Checkpointer::prune) drops a checkpoint.
///
/// A checkpoint is dropped only if it meets every condition that is set. If `keep_last` and `older_than` are both `None`,
/// nothing is dropped.
///
/// A store never drops:
/// - the head of a namespace;
/// - a checkpoint that no other checkpoint follows and that has an open interrupt;
/// - a checkpoint that a remaining checkpoint [retains](super::RecordKey::retaining).
///
/// Remaining checkpoints read the same as before. Changes of dropped checkpoints stay as long as a later checkpoint needs
/// them.
///
/// ```
/// use std::time::{Duration, SystemTime};
///
/// use superstep::checkpoint::{Checkpointer, MemoryCheckpointer, Prune};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = MemoryCheckpointer::new();
/// let month = Duration::from_secs(30 * 24 * 60 * 60);
/// let pruned = store.prune(Prune::new().keep_last(3).older_than(SystemTime::now() - month)).await?;
/// assert_eq!(pruned.checkpoints, 0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Prune {
    /// Only checkpoints of this thread. `None` means all threads.
    pub thread: Option<Arc<str>>,
    /// Never the newest `n` checkpoints of a namespace.
    pub keep_last: Option<usize>,
    /// Only checkpoints that were created before this time.
    pub older_than: Option<SystemTime>,
}

impl Prune {
    /// Creates conditions for all threads, which drop nothing until `keep_last` or `older_than` is set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Drops only checkpoints of this thread.
    #[must_use]
    pub fn thread(mut self, thread: impl Into<Arc<str>>) -> Self {
        self.thread = Some(thread.into());
        self
    }

    /// Keeps the newest `n` checkpoints of each namespace.
    #[must_use]
    pub fn keep_last(mut self, n: impl Into<Option<usize>>) -> Self {
        self.keep_last = n.into();
        self
    }

    /// Drops only checkpoints that were created before this time.
    #[must_use]
    pub fn older_than(mut self, time: impl Into<Option<SystemTime>>) -> Self {
        self.older_than = time.into();
        self
    }
}

/// The result of [`prune`](super::Checkpointer::prune).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pruned {
    /// The number of dropped checkpoints.
    pub checkpoints: u64,
}

impl Pruned {
    /// Creates the result for a number of dropped checkpoints.
    pub const fn new(checkpoints: u64) -> Self {
        Self { checkpoints }
    }
}
