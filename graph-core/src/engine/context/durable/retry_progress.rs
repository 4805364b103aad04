use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::error::NodeFailure;

/// The progress of a task whose node has a policy.
#[derive(Clone, Debug, Default)]
pub(crate) struct RetryProgress {
    /// The number of the attempt that began last; 0 before the first.
    pub(crate) attempt: u32,
    /// The failures since the run began or was resumed. Retry policies count these.
    pub(crate) failures: u32,
    /// The time at which the next attempt begins.
    pub(crate) due: Option<Due>,
    /// The failure that the node's error handler handles. The node itself does not run again.
    pub(crate) handling: Option<Arc<NodeFailure>>,
}

/// The end of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Due {
    pub(crate) at: SystemTime,
    /// The length of the whole wait. It bounds the rest of the wait if the clock was set back.
    pub(crate) wait: Duration,
}

impl Due {
    pub(crate) fn after(wait: Duration, now: SystemTime) -> Self {
        Self { at: now.checked_add(wait).unwrap_or(now), wait }
    }

    /// Returns the rest of the wait.
    pub(crate) fn remaining(&self, now: SystemTime) -> Duration {
        self.at.duration_since(now).unwrap_or_default().min(self.wait)
    }
}

/// A failure after which the task continues, and the task's progress.
#[derive(Debug)]
pub(crate) struct FailedAttempt<'t> {
    pub(crate) failure: &'t NodeFailure,
    pub(crate) retries: RetryProgress,
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::Due;

    #[test]
    fn remaining_wait_never_exceeds_the_wait() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1000);
        let due = Due::after(Duration::from_secs(60), now);
        let rest = |at: u64| due.remaining(SystemTime::UNIX_EPOCH + Duration::from_secs(at)).as_secs();
        assert_eq!([rest(1000), rest(1020), rest(1060), rest(5000)], [60, 40, 0, 0]);
        assert_eq!(rest(10), 60, "the clock was set back");
    }
}
