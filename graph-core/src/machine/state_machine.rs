use std::ops::Deref;

use crate::graph::Graph;
use crate::run::{NeedsContext, Run};

use super::{IntoNode, Machine, StateInputOf, Unsaid};

/// A machine that can be run; cheap to clone, and shared by all its runs. Made by [`Machine::compile`].
///
/// It is a [`Graph`] and derefs to it: that is where streams, [stores](Graph::with_checkpointer) and pictures come from.
pub struct StateMachine<M: Machine>(Graph<M::Run, M::Context>);

impl<M: Machine> StateMachine<M> {
    pub(super) fn new(graph: Graph<M::Run, M::Context>) -> Self {
        Self(graph)
    }

    /// A run that begins with `node`; awaiting it runs it. Options are set before, and the context given.
    ///
    /// ```
    /// # use superstep::machine::{End, Machine, To, to};
    /// # use serde::{Deserialize, Serialize};
    /// # #[derive(Machine)]
    /// # #[machine(nodes(Half), output = u32)]
    /// # struct Halving;
    /// # #[derive(Serialize, Deserialize)]
    /// # struct Half(u32);
    /// # impl Half {
    /// #     async fn run(&self) -> To<Halving, (Half, End<u32>)> {
    /// #         if self.0 % 2 == 0 { to(Half(self.0 / 2)) } else { to(End(self.0)) }
    /// #     }
    /// # }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> superstep::Result<()> {
    /// let outcome = Halving::compile()?.run(Half(24)).recursion_limit(4).await?;
    /// assert_eq!(outcome.ended()?.output, 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn run(&self, node: impl IntoNode<M>) -> Run<M::Run, M::Context, NeedsContext>
    where
        StateInputOf<M>: Unsaid,
    {
        self.0.run(M::start(node))
    }

    /// The same with an input of the state.
    pub fn run_with(
        &self,
        node: impl IntoNode<M>,
        state: StateInputOf<M>,
    ) -> Run<M::Run, M::Context, NeedsContext> {
        self.0.run(M::start_with(node, state))
    }

    /// The graph that it is.
    pub fn graph(&self) -> &Graph<M::Run, M::Context> {
        &self.0
    }
}

impl<M: Machine> Deref for StateMachine<M> {
    type Target = Graph<M::Run, M::Context>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<M: Machine> Clone for StateMachine<M> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<M: Machine> std::fmt::Debug for StateMachine<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("StateMachine").field(&self.0).finish()
    }
}
