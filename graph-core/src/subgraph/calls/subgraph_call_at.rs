use crate::checkpoint::CheckpointId;
use crate::engine::caught;
use crate::error::Error;
use crate::run::{NeedsContext, Run};
use crate::state::GraphState;
use crate::subgraph::{MakesContext, WiredTo, Wiring};
use crate::thread::Snapshot;
use crate::thread::run::{OnThread, RunAgain};

use super::{CallParent, SubgraphCall};

/// A subgraph call at one of its checkpoints. Made by [`SubgraphCall::at`].
pub struct SubgraphCallAt<'w, T, C: GraphState, D, W: Wiring<C>, X> {
    pub(crate) call: &'w SubgraphCall<T, C, D, W, X>,
    pub(crate) checkpoint: CheckpointId,
}

impl<T, C, D, W, X> SubgraphCall<T, C, D, W, X>
where
    T: CallParent,
    C: GraphState,
    D: Send + Sync + 'static,
    W: WiredTo<C, T::State>,
    X: MakesContext<T::Around, D>,
{
    /// Returns the calls at one of their checkpoints.
    pub fn at(&self, checkpoint: CheckpointId) -> SubgraphCallAt<'_, T, C, D, W, X> {
        SubgraphCallAt { call: self, checkpoint }
    }
}

/// A run of the thread that repeats a superstep.
type RootRunAgain<S, D> = Run<S, D, NeedsContext, OnThread<S, RunAgain<S>>>;

impl<T, C, D, W, X> SubgraphCallAt<'_, T, C, D, W, X>
where
    T: CallParent,
    C: GraphState,
    D: Send + Sync + 'static,
    W: WiredTo<C, T::State>,
    X: MakesContext<T::Around, D>,
{
    /// Returns the snapshot of the checkpoint, or `None` if it does not exist.
    ///
    /// # Errors
    /// As [`SubgraphCall::state`].
    ///
    /// # Cancel safety
    /// Cancel safe: the call only reads.
    pub async fn state(&self) -> Result<Option<Snapshot<C>>, Error> {
        caught(self.call.thread().graph.name(), self.call.load(Some(self.checkpoint))).await
    }

    /// Creates a run that repeats the thread from this checkpoint, on a new branch of the thread.
    ///
    /// The superstep of the parent graph that made the call runs again. The call continues from this checkpoint, and all
    /// other tasks of that superstep start anew.
    ///
    /// # Errors
    /// Awaiting the run fails like [`ThreadAt::run_again`](crate::thread::ThreadAt::run_again).
    ///
    /// # Durability
    /// As [`Thread::run`](crate::thread::Thread::run).
    pub fn run_again(&self) -> RootRunAgain<T::Root, T::Context> {
        let again = RunAgain::from_call(self.call.namespaces.clone(), self.checkpoint);
        self.call.thread().run_from(None, again)
    }
}
