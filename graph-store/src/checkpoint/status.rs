use std::time::SystemTime;

/// The status of a thread, as a store keeps it.
///
/// Each [batch](super::WriteBatch) that changes the status carries the new one, so that both are written together. Lists
/// of threads select by it without reading the threads.
///
/// ```
/// use std::time::{Duration, SystemTime};
///
/// use superstep::checkpoint::{StatusKind, StoredStatus};
///
/// let due = SystemTime::UNIX_EPOCH + Duration::from_secs(4_102_444_800);
/// let status = StoredStatus::new(StatusKind::WaitingForAnswer).wakes_at(due);
/// assert!(status.is_unfinished() && status.wakes_at == Some(due));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct StoredStatus {
    /// The kind.
    pub kind: StatusKind,
    /// The time from which the thread can continue without an answer, to the millisecond.
    ///
    /// It is the end of the first sleep or retry wait. A thread may wait for an answer and for a time.
    pub wakes_at: Option<SystemTime>,
    /// The time at which the thread got this status, to the millisecond. `None` if an older program has written it.
    pub changed_at: Option<SystemTime>,
}

/// The kind of a [`StoredStatus`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum StatusKind {
    /// No status is stored, because an older program has written the thread. It may be in any status, and it has no
    /// wake-up time.
    #[default]
    Unknown,
    /// Nothing is left to run.
    Finished,
    /// A run has started and has not stored its end. It is active, or it has crashed.
    Running,
    /// Open interrupts wait for answers.
    WaitingForAnswer,
    /// The thread sleeps.
    WaitingForTime,
    /// The run has stopped at breakpoints.
    AtBreakpoint,
    /// The run has failed.
    Failed,
    /// The run has reached its recursion limit or a superstep timeout.
    AtLimit,
    /// The run was asked to stop.
    Stopped,
}

impl StoredStatus {
    /// Creates a status without times.
    pub const fn new(kind: StatusKind) -> Self {
        Self { kind, wakes_at: None, changed_at: None }
    }

    /// Sets the time from which the thread can continue without an answer.
    #[must_use]
    pub fn wakes_at(mut self, time: impl Into<Option<SystemTime>>) -> Self {
        self.wakes_at = time.into();
        self
    }

    /// Sets the time at which the thread got this status.
    #[must_use]
    pub fn changed_at(mut self, time: impl Into<Option<SystemTime>>) -> Self {
        self.changed_at = time.into();
        self
    }

    /// Returns `true` unless the thread is finished. A thread of unknown status counts as unfinished.
    pub const fn is_unfinished(&self) -> bool {
        !matches!(self.kind, StatusKind::Finished)
    }

    /// Returns `true` if the thread may be able to continue at this time: its wake-up time has come, or its status is
    /// unknown.
    pub fn is_due(&self, now: SystemTime) -> bool {
        self.kind == StatusKind::Unknown || self.wakes_at.is_some_and(|time| time <= now)
    }
}

impl StatusKind {
    /// All kinds.
    pub const ALL: [Self; 9] = [
        Self::Unknown,
        Self::Finished,
        Self::Running,
        Self::WaitingForAnswer,
        Self::WaitingForTime,
        Self::AtBreakpoint,
        Self::Failed,
        Self::AtLimit,
        Self::Stopped,
    ];

    /// Returns the name of the kind in JSON, such as `waiting_for_answer`.
    ///
    /// ```
    /// use superstep::checkpoint::StatusKind;
    ///
    /// assert_eq!(StatusKind::WaitingForAnswer.name(), "waiting_for_answer");
    /// assert_eq!(StatusKind::from_name("waiting_for_answer"), Some(StatusKind::WaitingForAnswer));
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Finished => "finished",
            Self::Running => "running",
            Self::WaitingForAnswer => "waiting_for_answer",
            Self::WaitingForTime => "waiting_for_time",
            Self::AtBreakpoint => "at_breakpoint",
            Self::Failed => "failed",
            Self::AtLimit => "at_limit",
            Self::Stopped => "stopped",
        }
    }

    /// Returns the kind with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns the number that a store keeps. It never changes.
    pub const fn code(self) -> u8 {
        match self {
            Self::Unknown => 0,
            Self::Finished => 1,
            Self::Running => 2,
            Self::WaitingForAnswer => 3,
            Self::WaitingForTime => 4,
            Self::AtBreakpoint => 5,
            Self::Failed => 6,
            Self::AtLimit => 7,
            Self::Stopped => 8,
        }
    }

    /// Returns the kind with this number, or [`Unknown`](Self::Unknown) if the number is new to this version.
    pub fn from_code(code: u8) -> Self {
        Self::ALL.into_iter().find(|kind| kind.code() == code).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::StatusKind;

    #[test]
    fn code_of_each_kind_reads_back() {
        for (number, kind) in StatusKind::ALL.into_iter().enumerate() {
            assert_eq!(usize::from(kind.code()), number);
            assert_eq!(StatusKind::from_code(kind.code()), kind);
        }
        assert_eq!(StatusKind::from_code(255), StatusKind::Unknown);
    }
}
