use std::ops::Deref;

use crate::graph::Graph;
use crate::run::{NeedsContext, Run};

use super::{IntoNode, Machine, StateInputOf, Unsaid};

/// A compiled machine, made by [`Machine::compile`]. It is cheap to clone; its runs share it.
///
/// It derefs to its [`Graph`], which provides streams, [checkpointers](Graph::with_checkpointer) and pictures.
pub struct StateMachine<M: Machine>(Graph<M::Run, M::Context>);

impl<M: Machine> StateMachine<M> {
    pub(super) fn new(graph: Graph<M::Run, M::Context>) -> Self {
        Self(graph)
    }

    /// Prepares a run that begins with `node`. Set its options and its context, then await it.
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

    /// Prepares a run that begins with `node`, with an input for the state.
    pub fn run_with(
        &self,
        node: impl IntoNode<M>,
        state: StateInputOf<M>,
    ) -> Run<M::Run, M::Context, NeedsContext> {
        self.0.run(M::start_with(node, state))
    }

    /// Returns the machine's graph.
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
