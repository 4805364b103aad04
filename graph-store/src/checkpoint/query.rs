use std::sync::Arc;
use std::time::SystemTime;

use crate::Metadata;

use super::{Checkpoint, CheckpointId, CheckpointSource, CorruptCheckpoint};

/// Which checkpoints of a namespace to list, newest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CheckpointQuery {
    /// The thread.
    pub thread: Arc<str>,
    /// The namespace; empty for the graph itself.
    pub namespace: Arc<str>,
    /// Only those with a smaller id.
    pub before: Option<CheckpointId>,
    /// At most so many in a page; a store may give fewer, and says that there are more.
    pub limit: Option<usize>,
    /// Only those of this source.
    pub source: Option<CheckpointSource>,
    /// Only those of the run of this id.
    pub run: Option<Arc<str>>,
    /// Only those whose run has all of these keys with exactly these values: `1` is neither `1.0` nor `"1"`, and null is
    /// not a missing key.
    pub metadata: Metadata,
}

/// A page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// The items, in order.
    pub items: Vec<T>,
    /// Whether there may be more; ask again behind the last item.
    pub more: bool,
}

/// Which threads to list, by name in the order of their UTF-8 bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadQuery {
    /// Only those whose name sorts behind this one.
    pub after: Option<Arc<str>>,
    /// Only those whose name begins so.
    pub prefix: Option<Arc<str>>,
    /// Only those with something left to run; see [`ThreadRecord::unfinished`].
    pub unfinished: bool,
    /// At most so many in a page; a store may give fewer, and says that there are more.
    pub limit: Option<usize>,
}

/// A thread in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct ThreadRecord {
    /// Its name.
    pub thread: Arc<str>,
    /// Its epoch.
    pub epoch: u64,
    /// The newest checkpoint of the empty namespace, if there is one; or why it cannot be read, which says nothing of the
    /// other threads.
    pub head: Result<Option<Checkpoint>, CorruptCheckpoint>,
    /// Whether something is left to run: the head has planned nodes, or a resumption has added one
    /// ([`Goto`](super::RecordKind::Goto)). Nobody knows it of a head that cannot be read: then it is so.
    pub unfinished: bool,
}

/// Which checkpoints to drop. What is dropped fulfils every condition that is given; with none, nothing is.
///
/// Never dropped: the head of a namespace; a checkpoint that nothing follows and that has a question without an answer; one
/// that a checkpoint which stays [needs](super::RecordKey::retaining).
/// What remains can be read as before: pieces of dropped checkpoints stay as long as a later one needs them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prune {
    /// Only in this thread; in all if it is not said.
    pub thread: Option<Arc<str>>,
    /// Not the newest so many of a namespace.
    pub keep_last: Option<usize>,
    /// Only what was made before.
    pub older_than: Option<SystemTime>,
}

/// What pruning has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pruned {
    /// How many checkpoints are gone.
    pub checkpoints: u64,
}

impl Pruned {
    /// So many checkpoints are gone.
    pub const fn new(checkpoints: u64) -> Self {
        Self { checkpoints }
    }
}
