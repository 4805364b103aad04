use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;

use crate::engine::caught;
use crate::error::Error;
use crate::state::GraphState;

use super::Thread;
use super::erased::ErasedThread;

/// A copy of a thread to another name. Made by [`Thread::copy`].
#[must_use = "a copy does nothing until it is awaited"]
#[derive(Debug)]
pub struct CopyThread<S: GraphState, D = ()> {
    thread: Thread<S, D>,
    to: Arc<str>,
    epoch: Option<u64>,
}

impl<S: GraphState, D: Send + Sync + 'static> Thread<S, D> {
    /// Copies the thread, with all its checkpoints, to a new name. Awaiting it returns the copy.
    ///
    /// # Errors
    /// Awaiting it fails with [`Checkpoint`](crate::ErrorKind::Checkpoint), if this thread does not exist, or a thread with
    /// the new name already exists, or the checkpointer fails; and with [`Conflict`](crate::ErrorKind::Conflict) if the
    /// thread has another epoch than [`if_epoch`](CopyThread::if_epoch) names.
    ///
    /// # Cancel safety
    /// A dropped copy has copied everything or nothing.
    ///
    /// # Durability
    /// The copy is durable when awaiting it returns.
    pub fn copy(&self, name: impl AsRef<str>) -> CopyThread<S, D> {
        CopyThread { thread: self.clone(), to: name.as_ref().into(), epoch: None }
    }
}

impl<S: GraphState, D: Send + Sync + 'static> CopyThread<S, D> {
    /// Copies the thread only if it has this [epoch](super::Snapshot::epoch), and fails with
    /// [`Conflict`](crate::ErrorKind::Conflict) otherwise; as [for runs](crate::run::Run::if_epoch).
    ///
    /// The copy is then the thread that the caller has read, and not a later one.
    pub fn if_epoch(mut self, epoch: u64) -> Self {
        self.epoch = Some(epoch);
        self
    }
}

impl<S: GraphState, D: Send + Sync + 'static> IntoFuture for CopyThread<S, D> {
    type Output = Result<Thread<S, D>, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        let Self { thread, to, epoch } = self;
        let copied = copy(thread.erased(), Arc::clone(&to), epoch);
        Box::pin(async move {
            copied.await?;
            Ok(Thread { name: to, ..thread })
        })
    }
}

fn copy(
    thread: ErasedThread,
    to: Arc<str>,
    epoch: Option<u64>,
) -> Pin<Box<dyn Future<Output = Result<(), Error>> + Send>> {
    Box::pin(async move {
        let copied = async {
            let copied = thread.graph.store.copy(&thread.name, &to, epoch).await;
            copied.map_err(|error| thread.graph.error(error))
        };
        caught(&thread.graph.graph.0.name, copied).await
    })
}
