use crate::checkpoint::CheckpointId;
use crate::error::Error;
use crate::run::{NeedsContext, Run};
use crate::state::GraphState;
use crate::subgraph::{MakesContext, WiredTo, Wiring};
use crate::thread::Snapshot;
use crate::thread::run::{Again, OnThread};

use super::{Outer, SubgraphCall};

/// One of the checkpoints of a call; made by [`SubgraphCall::at`].
pub struct SubgraphCallAt<'w, T, C: GraphState, D, W: Wiring<C>, X> {
    pub(super) within: &'w SubgraphCall<T, C, D, W, X>,
    pub(super) checkpoint: CheckpointId,
}

/// A run of a thread that goes on from one of its checkpoints.
type AgainOf<S, D> = Run<S, D, NeedsContext, OnThread<S, D, Again<S>>>;

impl<T, C, D, W, X> SubgraphCallAt<'_, T, C, D, W, X>
where
    T: Outer,
    C: GraphState,
    D: Send + Sync + 'static,
    W: WiredTo<C, T::State>,
    X: MakesContext<T::Around, D>,
{
    /// The call as it was then; `None` if there is no such checkpoint.
    ///
    /// # Errors
    /// As [`SubgraphCall::state`].
    ///
    /// # Cancel safety
    /// It only reads.
    pub async fn state(&self) -> Result<Option<Snapshot<C>>, Error> {
        self.within.load(Some(self.checkpoint)).await
    }

    /// Runs the thread again from here, as a new branch of it: the superstep is run again in which the call was made, and the
    /// call goes on from this checkpoint. Its other tasks begin anew.
    pub fn run_again(&self) -> AgainOf<T::Root, T::Context> {
        let again = Again::within(self.within.namespaces.clone(), self.checkpoint);
        self.within.thread().run_from(None, again)
    }
}
