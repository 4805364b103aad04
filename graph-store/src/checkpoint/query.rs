use std::sync::Arc;
use std::time::SystemTime;

use crate::Metadata;

use super::{Checkpoint, CheckpointId, CheckpointSource, CorruptCheckpoint};

/// A query for checkpoints of a namespace, newest first.
///
/// A checkpoint is listed if it meets every condition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CheckpointQuery {
    /// The thread.
    pub thread: Arc<str>,
    /// The namespace, empty for the root graph.
    pub namespace: Arc<str>,
    /// Only checkpoints with a smaller id.
    pub before: Option<CheckpointId>,
    /// At most this many items in a page. A store may return fewer and set [`Page::more`].
    pub limit: Option<usize>,
    /// Only checkpoints of this source.
    pub source: Option<CheckpointSource>,
    /// Only checkpoints of the run with this id.
    pub run: Option<Arc<str>>,
    /// Only checkpoints whose run has all of these keys with exactly these values.
    ///
    /// `1` is neither `1.0` nor `"1"`, and null is not a missing key.
    pub metadata: Metadata,
}

/// One page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// The items, in order.
    pub items: Vec<T>,
    /// `true` if there may be further items. Query again, starting after the last item.
    pub more: bool,
}

/// A query for threads, by name in the order of their UTF-8 bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadQuery {
    /// Only threads whose name sorts after this one.
    pub after: Option<Arc<str>>,
    /// Only threads whose name starts with this prefix.
    pub prefix: Option<Arc<str>>,
    /// Only threads with pending tasks: see [`ThreadRecord::unfinished`].
    pub unfinished: bool,
    /// At most this many items in a page. A store may return fewer and set [`Page::more`].
    pub limit: Option<usize>,
}

/// A thread in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct ThreadRecord {
    /// The name.
    pub thread: Arc<str>,
    /// The epoch.
    pub epoch: u64,
    /// The head of the empty namespace: `Ok(None)` if it has no checkpoint, `Err` if the head cannot be read.
    ///
    /// An error concerns this thread only.
    pub head: Result<Option<Checkpoint>, CorruptCheckpoint>,
    /// `true` if the thread has pending tasks.
    ///
    /// That is so if the head has planned nodes, or if a caller added a node on resume
    /// ([`Goto`](super::RecordKind::Goto)). It is also `true` if the head cannot be read.
    pub unfinished: bool,
}

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
/// Remaining checkpoints read the same as before. Changes of dropped checkpoints stay as long as a later checkpoint
/// needs them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prune {
    /// Only checkpoints of this thread. `None` means all threads.
    pub thread: Option<Arc<str>>,
    /// Never the newest `n` checkpoints of a namespace.
    pub keep_last: Option<usize>,
    /// Only checkpoints that were created before this time.
    pub older_than: Option<SystemTime>,
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
