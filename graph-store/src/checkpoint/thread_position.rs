use std::cmp::Ordering;
use std::sync::Arc;
use std::time::SystemTime;

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
