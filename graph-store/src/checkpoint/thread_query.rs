use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::SystemTime;

use crate::Metadata;

use super::{
    ChangePosition, Checkpoint, CorruptCheckpoint, DuePosition, RunRecord, StatusKind, StoredStatus,
};

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
    /// [`CheckpointQuery::metadata`](super::CheckpointQuery::metadata).
    pub metadata: Metadata,
    /// `true` to list threads by the time of the last change of their status, the newest first.
    pub newest_first: bool,
    /// For a query with `newest_first`: only threads after this position.
    pub newest_after: Option<ChangePosition>,
    /// At most this many items in a page. A store may return fewer and set [`Page::more`](super::Page::more).
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
        self.metadata.is_empty() || run.is_some_and(|run| run.has_metadata(&self.metadata))
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
