use std::future::Future;
use std::pin::Pin;

use crate::checkpoint::RecordKind;
use crate::engine::policy::Tried;
use crate::node::NodeError;
use crate::payload::Payload;

/// The writing of what tasks come to on the way: one for a run; a run without a store has none.
pub(crate) trait StepLog: Send + Sync {
    /// Waits until everything is durable that a step of the superstep hangs on.
    fn flush(&self) -> Logged<'_>;

    /// Writes what a task's step came to, or until when it sleeps; durable when the future is done.
    fn record<'a>(&'a self, task: usize, kind: RecordKind, key: &'a str, result: Payload) -> Logged<'a>;

    /// Writes that a task has failed and is not over with it; as durable as the run's mode asks for when the future is done.
    fn tried<'a>(&'a self, task: usize, tried: Tried<'a>) -> Logged<'a>;
}

/// A write under way.
pub(crate) type Logged<'a> = Pin<Box<dyn Future<Output = Result<(), NodeError>> + Send + 'a>>;
