use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::error::NodeFailure;

/// How far a task of a node with a policy has come.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tries {
    /// The attempt that was begun last; 0 before the first.
    pub(crate) attempt: u32,
    /// The failures since the run was begun or resumed, which is what policies count.
    pub(crate) failures: u32,
    /// When the next attempt begins.
    pub(crate) due: Option<Due>,
    /// What the node's error handler is asked about; the node does not run again.
    pub(crate) handling: Option<Arc<NodeFailure>>,
}

/// When a wait is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Due {
    pub(crate) at: SystemTime,
    /// How long the whole wait is. A clock that was set back does not make it longer.
    pub(crate) wait: Duration,
}

impl Due {
    pub(crate) fn after(wait: Duration, now: SystemTime) -> Self {
        Self { at: now.checked_add(wait).unwrap_or(now), wait }
    }

    /// How much of the wait is left.
    pub(crate) fn rest(&self, now: SystemTime) -> Duration {
        self.at.duration_since(now).unwrap_or_default().min(self.wait)
    }
}

/// A failure that is not the task's end, and how far the task has come with it.
#[derive(Debug)]
pub(crate) struct Tried<'t> {
    pub(crate) failure: &'t NodeFailure,
    pub(crate) tries: Tries,
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::Due;

    #[test]
    fn what_is_left_of_a_wait_is_never_more_than_the_wait() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1000);
        let due = Due::after(Duration::from_secs(60), now);
        let rest = |at: u64| due.rest(SystemTime::UNIX_EPOCH + Duration::from_secs(at)).as_secs();
        assert_eq!([rest(1000), rest(1020), rest(1060), rest(5000)], [60, 40, 0, 0]);
        assert_eq!(rest(10), 60, "the clock was set back");
    }
}
