//! Panics of the application's code outside of nodes: in `Clone`, `Drop` or `Serialize`, for example.
//!
//! Code that has a place of its own in an error (nodes, reducers, rules, policies, stored values) is called with
//! `contained`. Everything else is caught here, once for each call of the library, because a `catch_unwind` around each
//! clone and drop would slow every superstep down.

use std::future::Future;
use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;

use crate::contain::panic_message;
use crate::error::{Error, ErrorKind, contained};

use super::driver::Driver;

/// Awaits a call, and turns a panic into its error.
// Not an `async fn`, which would hold the call twice: as its argument, and while it is awaited.
pub(crate) fn caught<T>(
    graph: &str,
    call: impl Future<Output = Result<T, Error>>,
) -> impl Future<Output = Result<T, Error>> {
    let caught = AssertUnwindSafe(call).catch_unwind();
    caught.map(move |done| done.unwrap_or_else(|panic| Err(panicked(graph, panic_message(panic)))))
}

/// Makes a call, and turns a panic into its error.
pub(crate) fn caught_call<T>(graph: &str, call: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    contained(call).unwrap_or_else(|panic| Err(panicked(graph, panic.0)))
}

fn panicked(graph: &str, message: String) -> Error {
    Error::new(graph, ErrorKind::Panicked { message })
}

impl Driver {
    /// Runs one superstep. After a panic outside of a node, the driver runs nothing any more.
    pub(crate) async fn step_unless_broken(&mut self) -> Result<bool, Error> {
        if let Some(message) = &self.broken {
            return Err(panicked(&self.graph.name, message.clone()));
        }
        let stepped = AssertUnwindSafe(self.step()).catch_unwind().await;
        match stepped {
            Ok(stepped) => stepped,
            Err(panic) => Err(self.break_off(panic_message(panic)).await),
        }
    }

    /// Runs the remaining supersteps until the run finishes or pauses, and waits until its end is durable.
    pub(crate) async fn finish(&mut self) -> Result<(), Error> {
        if let Some(message) = &self.broken {
            return Err(panicked(&self.graph.name, message.clone()));
        }
        let run = AssertUnwindSafe(async {
            self.advance(false).await?;
            // In a box, so that the future of a run has no room for its end.
            if self.persist.is_some() { Box::pin(self.conclude()).await } else { Ok(()) }
        });
        match run.catch_unwind().await {
            Ok(finished) => finished,
            Err(panic) => Err(Box::pin(self.break_off(panic_message(panic))).await),
        }
    }

    /// Ends the run after a panic in the midst of a superstep, of which nothing was handed to the store.
    ///
    /// No further result is stored, because a result may have been taken apart. The batches in the queue are complete.
    #[cold]
    async fn break_off(&mut self, message: String) -> Error {
        self.broken = Some(message.clone());
        if let Some(persist) = &self.persist
            && let Err(error) = persist.flush().await
        {
            return Error::new(&self.graph.name, ErrorKind::store(error));
        }
        panicked(&self.graph.name, message)
    }
}
