use std::future::{Future, IntoFuture};
use std::pin::Pin;

use crate::engine::caught;
use crate::error::Error;
use crate::state::GraphState;

use super::Thread;
use super::erased::ErasedThread;

/// A deletion of a thread. Made by [`Thread::delete`].
#[must_use = "a deletion does nothing until it is awaited"]
#[derive(Debug)]
pub struct DeleteThread<S: GraphState, D = ()> {
    thread: Thread<S, D>,
    epoch: Option<u64>,
}

impl<S: GraphState, D: Send + Sync + 'static> Thread<S, D> {
    /// Deletes the thread with all its checkpoints. Awaiting it returns `false` if the thread did not exist.
    ///
    /// # Errors
    /// Awaiting it fails with [`Checkpoint`](crate::ErrorKind::Checkpoint), if the checkpointer fails, and with
    /// [`Conflict`](crate::ErrorKind::Conflict) if the thread has another epoch than
    /// [`if_epoch`](DeleteThread::if_epoch) names.
    ///
    /// # Cancel safety
    /// A dropped deletion has deleted everything or nothing.
    ///
    /// # Durability
    /// The deletion is durable when awaiting it returns.
    pub fn delete(&self) -> DeleteThread<S, D> {
        DeleteThread { thread: self.clone(), epoch: None }
    }
}

impl<S: GraphState, D: Send + Sync + 'static> DeleteThread<S, D> {
    /// Deletes the thread only if it has this [epoch](super::Snapshot::epoch), and fails with
    /// [`Conflict`](crate::ErrorKind::Conflict) otherwise; as [for runs](crate::run::Run::if_epoch).
    ///
    /// A late cleanup then deletes no thread that has been used again. A thread that does not exist is no conflict.
    ///
    /// ```
    /// # use superstep::checkpoint::MemoryCheckpointer;
    /// # use superstep::{END, ErrorKind, GraphState, START, StateGraph};
    /// # #[derive(GraphState, Clone)]
    /// # struct Job { #[state(input)] text: String }
    /// # async fn work(_: &Job) {}
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> superstep::Result<()> {
    /// # let graph = StateGraph::<Job>::new().edge(START, work).edge(work, END).compile()?;
    /// # let thread = graph.with_checkpointer(MemoryCheckpointer::new()).thread("job-1");
    /// thread.run(Job::input("first")).await?;
    /// let epoch = thread.state().await?.expect("a checkpoint").epoch;
    /// thread.run(Job::input("second")).await?;
    ///
    /// let late = thread.delete().if_epoch(epoch).await.unwrap_err();
    /// assert!(matches!(late.kind(), ErrorKind::Conflict(_)));
    /// # Ok(())
    /// # }
    /// ```
    pub fn if_epoch(mut self, epoch: u64) -> Self {
        self.epoch = Some(epoch);
        self
    }
}

impl<S: GraphState, D: Send + Sync + 'static> IntoFuture for DeleteThread<S, D> {
    type Output = Result<bool, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        delete(self.thread.erased(), self.epoch)
    }
}

fn delete(
    thread: ErasedThread,
    epoch: Option<u64>,
) -> Pin<Box<dyn Future<Output = Result<bool, Error>> + Send>> {
    Box::pin(async move {
        let deleted = async {
            let deleted = thread.graph.store.delete(&thread.name, epoch).await;
            deleted.map_err(|error| thread.graph.error(error))
        };
        caught(&thread.graph.graph.0.name, deleted).await
    })
}
