use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::engine::context::{Due, FailedAttempt, RetryProgress, waits_again};
use crate::error::NodeFailure;
use crate::plan::Task;

/// The last failure of a task.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StoredFailure {
    pub(crate) error: String,
    pub(crate) attempt: u32,
    #[serde(default)]
    pub(crate) panicked: bool,
    /// The name of the error's type. `None` for a panic, for refused writes, and if an older version has stored the failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error_type: Option<String>,
    /// `true` if the task failed only because an answer could not be read, and waits for another one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) waits_again: bool,
    /// `true` if the node's error handler handles it, and the node does not run again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    handling: bool,
    /// The progress of a task that is tried again; `None` if the failure ended the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retry: Option<StoredRetry>,
}

/// The progress of a task that is tried again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StoredRetry {
    /// The number of failures that its retry policy has counted.
    failures: u32,
    /// The time of the next attempt, in milliseconds since 1970.
    at: u64,
    /// The length of the whole wait, in milliseconds.
    wait: u64,
}

impl StoredRetry {
    fn due(&self) -> Option<Due> {
        let at = SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(self.at))?;
        Some(Due { at, wait: Duration::from_millis(self.wait) })
    }
}

impl StoredFailure {
    /// Creates the failure of a task whose writes were refused.
    pub(crate) fn refused(error: String, attempt: u32) -> Self {
        Self {
            error,
            attempt,
            panicked: false,
            error_type: None,
            waits_again: false,
            handling: false,
            retry: None,
        }
    }

    /// Creates the failure of a task that ends its run.
    pub(crate) fn of(failure: &NodeFailure) -> Self {
        Self {
            error: failure.text(),
            attempt: failure.attempt,
            panicked: failure.panicked,
            error_type: failure.error_type().map(str::to_owned),
            waits_again: waits_again(failure),
            handling: false,
            retry: None,
        }
    }

    /// Creates the failure of a task that is tried again.
    pub(crate) fn tried(tried: &FailedAttempt<'_>) -> Self {
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let retry = tried.retries.due.map(|due| StoredRetry {
            failures: tried.retries.failures,
            at: millis(due.at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()),
            wait: millis(due.wait),
        });
        Self { retry, handling: tried.retries.handling.is_some(), ..Self::of(tried.failure) }
    }

    /// Returns the stored progress of the task.
    pub(crate) fn tries(&self, node: &str, step: u64, index: usize, task: Option<&Task>) -> RetryProgress {
        let handling = self.handling.then(|| {
            let (error, error_type) = (self.error.clone().into(), self.error_type.clone().map(Cow::Owned));
            let failure = NodeFailure {
                panicked: self.panicked,
                stored: true,
                ..NodeFailure::new(node, step, self.attempt, error, error_type)
            };
            Arc::new(match task {
                Some(task) => failure.of(index, task.packet.as_ref()),
                None => failure,
            })
        });
        RetryProgress {
            attempt: self.attempt,
            failures: self.retry.as_ref().map_or(0, |retry| retry.failures),
            due: self.retry.as_ref().and_then(StoredRetry::due),
            handling,
        }
    }

    /// Returns the time of the next attempt, if the task waits for one.
    pub(crate) fn retry_at(&self) -> Option<SystemTime> {
        self.retry.as_ref().and_then(StoredRetry::due).map(|due| due.at)
    }

    /// Returns `true` if the failure ended its task, and thereby the run.
    pub(crate) fn is_final(&self) -> bool {
        self.retry.is_none() && !self.handling
    }
}
