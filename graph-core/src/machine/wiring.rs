use std::sync::Arc;

use crate::StateGraph;
use crate::error::{Error, NodeError};
use crate::graph::{Reads, Registers};
use crate::node::{Body, IsPacketOf, ReadsPacket, Signature};
use crate::step::{Choice, Leave, NodeRef};

use super::node_fn::{NodeFn, NodeOutput};
use super::{AnyNode, Leads, Machine, NodeOf, RunFunction, RunState, StateMachine};

/// A machine under construction, used by generated code.
pub struct Wiring<M: Machine>(StateGraph<M::Run, M::Context>);

impl<M: Machine> Wiring<M> {
    /// Begins a machine without nodes.
    pub fn begin() -> Self {
        Self(StateGraph::with_context().name(M::NAME))
    }

    /// Adds the node `N` with the function `run`.
    // rustc leaves private types out of its lists, and users have no use for these.
    #[expect(private_bounds, reason = "the wrapper of a node's result is no type for users")]
    pub fn node<N: NodeOf<M>, F, Mark, Args, Out>(mut self, run: F) -> Self
    where
        F: RunFunction<N, Mark, Args = Args, Out = Out>,
        Args: ReadsPacket<Packet: IsPacketOf<N>>,
        Signature<Args, Out>: Reads<M::Run, M::Context>,
        Out: Leads<M>,
        Signature<Args, NodeOutput<M, Out>>: Registers<M::Run, M::Context, Body<NodeFn<M, F, Out>>>,
    {
        let run = Arc::new(NodeFn::new(run));
        self.0.register::<Signature<Args, NodeOutput<M, Out>>, _>(Body {
            node: NodeRef::Named(N::NAME.into()),
            run,
        });
        self
    }

    /// Checks the machine and builds it. See [`Machine::compile`].
    ///
    /// # Errors
    /// All mistakes of the machine.
    pub fn compile(self) -> Result<StateMachine<M>, Error> {
        let exits = <M::Node as AnyNode>::__exits();
        let graph = self.0.anywhere(exits, |run: &M::Run| {
            let (exit, packet) = run.__start().map(AnyNode::__sent).ok_or_else(|| {
                NodeError::msg(format!(
                    "the run has no node to start with: start it with `{}::start(node)`",
                    M::NAME
                ))
            })?;
            Ok(Leave::By(Choice { exit, packet: Some(packet) }))
        });
        graph.compile().map(StateMachine::new)
    }
}
