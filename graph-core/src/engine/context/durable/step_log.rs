use std::future::Future;
use std::pin::Pin;

use crate::checkpoint::RecordKind;
use crate::error::NodeError;
use crate::payload::Payload;

use super::retry_progress::FailedAttempt;

/// The log of durable steps, sleeps and retries of a run on a thread.
pub(crate) trait StepLog: Send + Sync {
    /// Waits until everything that a step of the superstep depends on is durable.
    fn flush(&self) -> Logged<'_>;

    /// Writes the result of a task's step, or the end of its sleep. It is durable when the future completes.
    fn record<'a>(&'a self, task: usize, kind: RecordKind, key: &'a str, result: Payload) -> Logged<'a>;

    /// Writes that a timer of a task has fired, and removes questions of the task. Durable when the future completes.
    fn fired<'a>(&'a self, task: usize, timer: &'a str, fired: Payload, withdrawn: Vec<String>)
    -> Logged<'a>;

    /// Writes a failure after which its task continues. When the future completes it is as durable as the run's
    /// durability mode requires.
    fn tried<'a>(&'a self, task: usize, tried: FailedAttempt<'a>) -> Logged<'a>;
}

/// A write in progress.
pub(crate) type Logged<'a> = Pin<Box<dyn Future<Output = Result<(), NodeError>> + Send + 'a>>;
