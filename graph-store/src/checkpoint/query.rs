use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::SystemTime;

use crate::Metadata;

use super::{
    Checkpoint, CheckpointId, CheckpointSource, CorruptCheckpoint, RunRecord, StatusKind, StoredStatus,
};

/// A query for checkpoints of a namespace, newest first unless it [says otherwise](Self::oldest_first).
///
/// A checkpoint is listed if it meets every condition.
///
/// ```
/// use superstep::checkpoint::{CheckpointQuery, CheckpointSource};
///
/// let query = CheckpointQuery::new("thread").source(CheckpointSource::Input).limit(10);
/// assert_eq!((&*query.thread, query.limit), ("thread", Some(10)));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CheckpointQuery {
    /// The thread.
    pub thread: Arc<str>,
    /// The namespace, empty for the root graph.
    pub namespace: Arc<str>,
    /// Only checkpoints with a smaller id.
    pub before: Option<CheckpointId>,
    /// Only checkpoints with a greater id.
    pub after: Option<CheckpointId>,
    /// `true` to list the oldest checkpoint first.
    pub oldest_first: bool,
    /// At most this many items in a page. A store may return fewer and set [`Page::more`].
    pub limit: Option<usize>,
    /// Only checkpoints of this source.
    pub source: Option<CheckpointSource>,
    /// Only checkpoints of the run with this id.
    pub run: Option<Arc<str>>,
    /// Only checkpoints that have accepted the request with this idempotency key: those with a
    /// [`Request`](super::RecordKind::Request) record of exactly this key.
    pub request: Option<Arc<str>>,
    /// Only checkpoints whose run has all of these keys with exactly these values.
    ///
    /// `1` is neither `1.0` nor `"1"`, and null is not a missing key.
    pub metadata: Metadata,
}

impl CheckpointQuery {
    /// Creates a query for all checkpoints of the root namespace of a thread.
    pub fn new(thread: impl Into<Arc<str>>) -> Self {
        Self { thread: thread.into(), ..Self::default() }
    }

    /// Sets the namespace.
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<Arc<str>>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Lists only checkpoints with a smaller id.
    #[must_use]
    pub fn before(mut self, before: impl Into<Option<CheckpointId>>) -> Self {
        self.before = before.into();
        self
    }

    /// Lists only checkpoints with a greater id.
    #[must_use]
    pub fn after(mut self, after: impl Into<Option<CheckpointId>>) -> Self {
        self.after = after.into();
        self
    }

    /// Lists the oldest checkpoint first, if `oldest_first` is `true`.
    #[must_use]
    pub fn oldest_first(mut self, oldest_first: bool) -> Self {
        self.oldest_first = oldest_first;
        self
    }

    /// Lists at most this many checkpoints in a page.
    #[must_use]
    pub fn limit(mut self, limit: impl Into<Option<usize>>) -> Self {
        self.limit = limit.into();
        self
    }

    /// Lists only checkpoints of this source.
    #[must_use]
    pub fn source(mut self, source: impl Into<Option<CheckpointSource>>) -> Self {
        self.source = source.into();
        self
    }

    /// Lists only checkpoints of the run with this id.
    #[must_use]
    pub fn run(mut self, run: impl Into<Arc<str>>) -> Self {
        self.run = Some(run.into());
        self
    }

    /// Lists only checkpoints that have accepted the request with this idempotency key.
    #[must_use]
    pub fn request(mut self, key: impl Into<Arc<str>>) -> Self {
        self.request = Some(key.into());
        self
    }

    /// Lists only checkpoints whose run has all of these keys with exactly these values.
    #[must_use]
    pub fn metadata(mut self, metadata: Metadata) -> Self {
        self.metadata = metadata;
        self
    }
}

/// One page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Page<T> {
    /// The items, in order.
    pub items: Vec<T>,
    /// `true` if there may be further items. Query again, starting after the last item.
    pub more: bool,
}

impl<T> Page<T> {
    /// Creates a page. `more` is `true` if there may be further items.
    pub const fn new(items: Vec<T>, more: bool) -> Self {
        Self { items, more }
    }
}

/// A query for threads, by name in the order of their UTF-8 bytes.
///
/// A thread is listed if it meets every condition. Two queries have another order, and list threads by name only if the
/// time is the same:
///
/// - [`due`](Self::due): by wake-up time. Threads of unknown status come first.
/// - [`newest_first`](Self::newest_first), without `due`: by the time of the last change of the status, the newest first.
///   Threads for which it is unknown come last.
///
/// ```
/// use superstep::checkpoint::ThreadQuery;
///
/// let query = ThreadQuery::new().prefix("user/").unfinished(true).limit(10);
/// assert_eq!((query.prefix.as_deref(), query.limit), (Some("user/"), Some(10)));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThreadQuery {
    /// Only threads whose name sorts after this one.
    pub after: Option<Arc<str>>,
    /// Only threads whose name starts with this prefix.
    pub prefix: Option<Arc<str>>,
    /// Only threads whose status is [unfinished](StoredStatus::is_unfinished).
    pub unfinished: bool,
    /// Only threads whose status is [due](StoredStatus::is_due) at this time, by their wake-up time.
    pub due: Option<SystemTime>,
    /// For a query with `due`: only threads after this position.
    pub due_after: Option<DuePosition>,
    /// Only threads whose status is of one of these kinds. Empty means all.
    pub status: BTreeSet<StatusKind>,
    /// Only threads with a head in the root namespace whose run has all of these keys with exactly these values, as in
    /// [`CheckpointQuery::metadata`].
    pub metadata: Metadata,
    /// `true` to list threads by the time of the last change of their status, the newest first.
    pub newest_first: bool,
    /// For a query with `newest_first`: only threads after this position.
    pub newest_after: Option<ChangePosition>,
    /// At most this many items in a page. A store may return fewer and set [`Page::more`].
    pub limit: Option<usize>,
}

impl ThreadQuery {
    /// Creates a query for all threads.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lists only threads whose name sorts after this one.
    #[must_use]
    pub fn after(mut self, after: impl Into<Arc<str>>) -> Self {
        self.after = Some(after.into());
        self
    }

    /// Lists only threads whose name starts with this prefix.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<Arc<str>>) -> Self {
        self.prefix = Some(prefix.into());
        self
    }

    /// Lists only unfinished threads, if `unfinished` is `true`.
    #[must_use]
    pub fn unfinished(mut self, unfinished: bool) -> Self {
        self.unfinished = unfinished;
        self
    }

    /// Lists only threads that are due at this time, by their wake-up time.
    #[must_use]
    pub fn due(mut self, now: impl Into<Option<SystemTime>>) -> Self {
        self.due = now.into();
        self
    }

    /// Lists only threads whose status is of one of these kinds. No kind means all.
    #[must_use]
    pub fn status(mut self, kinds: impl IntoIterator<Item = StatusKind>) -> Self {
        self.status = kinds.into_iter().collect();
        self
    }

    /// Lists only threads whose newest run in the root namespace has all of these keys with exactly these values.
    #[must_use]
    pub fn metadata(mut self, metadata: Metadata) -> Self {
        self.metadata = metadata;
        self
    }

    /// Lists threads by the time of the last change of their status, the newest first, if `newest_first` is `true`.
    #[must_use]
    pub fn newest_first(mut self, newest_first: bool) -> Self {
        self.newest_first = newest_first;
        self
    }

    /// Continues the list after the last thread of a page.
    #[must_use]
    pub fn continue_after(mut self, last: &ThreadRecord) -> Self {
        let thread = Arc::clone(&last.thread);
        if self.due.is_some() {
            let wakes_at = last.status.wakes_at.filter(|_| last.status.kind != StatusKind::Unknown);
            self.due_after = Some(DuePosition { wakes_at, thread });
        } else if self.newest_first {
            self.newest_after = Some(ChangePosition { changed_at: last.status.changed_at, thread });
        } else {
            self.after = Some(thread);
        }
        self
    }

    /// Lists at most this many threads in a page.
    #[must_use]
    pub fn limit(mut self, limit: impl Into<Option<usize>>) -> Self {
        self.limit = limit.into();
        self
    }

    /// Returns `true` if a thread of this status meets the conditions on the status.
    pub fn selects(&self, status: &StoredStatus) -> bool {
        (!self.unfinished || status.is_unfinished())
            && (self.status.is_empty() || self.status.contains(&status.kind))
            && self.due.is_none_or(|now| status.is_due(now))
    }

    /// Returns `true` if a thread whose head in the root namespace is of this run meets the condition on the metadata.
    pub fn selects_run(&self, run: Option<&RunRecord>) -> bool {
        self.metadata.is_empty() || run.is_some_and(|run| has_metadata(run, &self.metadata))
    }
}

/// Returns `true` if a run has all of these keys with exactly these values.
pub(super) fn has_metadata(run: &RunRecord, wanted: &Metadata) -> bool {
    // `Value` compares strictly: an integer never equals a float.
    wanted.iter().all(|(key, value)| run.metadata.get(key) == Some(value))
}

/// A position in a list of due threads. Positions sort like the list.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct DuePosition {
    /// The wake-up time of the thread at the position. `None`, for an unknown status, sorts first.
    pub wakes_at: Option<SystemTime>,
    /// The name of the thread.
    pub thread: Arc<str>,
}

impl DuePosition {
    /// Creates the position of a thread with this wake-up time.
    pub fn new(wakes_at: impl Into<Option<SystemTime>>, thread: impl Into<Arc<str>>) -> Self {
        Self { wakes_at: wakes_at.into(), thread: thread.into() }
    }
}

/// A position in a list of threads by the time of the last change of their status. Positions sort like the list: the
/// newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ChangePosition {
    /// The time of the last change of the status. `None`, for an unknown time, sorts last.
    pub changed_at: Option<SystemTime>,
    /// The name of the thread.
    pub thread: Arc<str>,
}

impl ChangePosition {
    /// Creates the position of a thread whose status changed at this time.
    pub fn new(changed_at: impl Into<Option<SystemTime>>, thread: impl Into<Arc<str>>) -> Self {
        Self { changed_at: changed_at.into(), thread: thread.into() }
    }
}

impl Ord for ChangePosition {
    fn cmp(&self, other: &Self) -> Ordering {
        other.changed_at.cmp(&self.changed_at).then_with(|| self.thread.cmp(&other.thread))
    }
}

impl PartialOrd for ChangePosition {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A thread in a list.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ThreadRecord {
    /// The name.
    pub thread: Arc<str>,
    /// The epoch.
    pub epoch: u64,
    /// The head of the empty namespace: `Ok(None)` if it has no checkpoint, `Err` if the head cannot be read.
    ///
    /// An error concerns this thread only.
    pub head: Result<Option<Checkpoint>, CorruptCheckpoint>,
    /// The status.
    pub status: StoredStatus,
}

impl ThreadRecord {
    /// Creates the record of a thread from its name, its epoch, its head and its status.
    pub fn new(
        thread: impl Into<Arc<str>>,
        epoch: u64,
        head: Result<Option<Checkpoint>, CorruptCheckpoint>,
        status: StoredStatus,
    ) -> Self {
        Self { thread: thread.into(), epoch, head, status }
    }
}

/// A query for the namespaces of a thread, by name in the order of their UTF-8 bytes.
///
/// A namespace is listed if it has a checkpoint and meets every condition.
///
/// ```
/// use superstep::checkpoint::NamespaceQuery;
///
/// let query = NamespaceQuery::new("thread").prefix("research:").limit(10);
/// assert_eq!((&*query.thread, query.limit), ("thread", Some(10)));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct NamespaceQuery {
    /// The thread.
    pub thread: Arc<str>,
    /// Only namespaces whose name sorts after this one.
    pub after: Option<Arc<str>>,
    /// Only namespaces whose name starts with this prefix.
    pub prefix: Option<Arc<str>>,
    /// At most this many items in a page. A store may return fewer and set [`Page::more`].
    pub limit: Option<usize>,
}

impl NamespaceQuery {
    /// Creates a query for all namespaces of a thread.
    pub fn new(thread: impl Into<Arc<str>>) -> Self {
        Self { thread: thread.into(), ..Self::default() }
    }

    /// Lists only namespaces whose name sorts after this one.
    #[must_use]
    pub fn after(mut self, after: impl Into<Arc<str>>) -> Self {
        self.after = Some(after.into());
        self
    }

    /// Lists only namespaces whose name starts with this prefix.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<Arc<str>>) -> Self {
        self.prefix = Some(prefix.into());
        self
    }

    /// Continues the list after the last namespace of a page.
    #[must_use]
    pub fn continue_after(self, last: &NamespaceRecord) -> Self {
        self.after(Arc::clone(&last.namespace))
    }

    /// Lists at most this many namespaces in a page.
    #[must_use]
    pub fn limit(mut self, limit: impl Into<Option<usize>>) -> Self {
        self.limit = limit.into();
        self
    }
}

/// A namespace in a list.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct NamespaceRecord {
    /// The name, empty for the root graph.
    pub namespace: Arc<str>,
    /// The head: `Err` if it cannot be read. An error concerns this namespace only.
    pub head: Result<Checkpoint, CorruptCheckpoint>,
}

impl NamespaceRecord {
    /// Creates the record of a namespace from its name and its head.
    pub fn new(namespace: impl Into<Arc<str>>, head: Result<Checkpoint, CorruptCheckpoint>) -> Self {
        Self { namespace: namespace.into(), head }
    }
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
