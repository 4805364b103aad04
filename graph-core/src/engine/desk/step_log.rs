use std::future::Future;
use std::pin::Pin;

use crate::checkpoint::Payload;
use crate::node::NodeError;

/// The writing of durable steps: one for a run; a run without a store has none.
pub(crate) trait StepLog: Send + Sync {
    /// Waits until everything is durable that a step of the superstep hangs on.
    fn flush(&self) -> Logged<'_>;

    /// Writes what a task's step came to; durable when the future is done.
    fn record<'a>(&'a self, task: usize, key: &'a str, result: Payload) -> Logged<'a>;
}

/// A write under way.
pub(crate) type Logged<'a> = Pin<Box<dyn Future<Output = Result<(), NodeError>> + Send + 'a>>;
