use std::any::TypeId;
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

use crate::engine::child::{Call, ErasedCallResult, run_call};
use crate::engine::{
    CallStorage, Compiled, ErasedContext, ErasedNode, ErasedSource, KeptState, KeptStates, StepFuture,
    StoredCall, SubgraphNode, followed_by,
};
use crate::erased::{ErasedState, Packet, StateTypeOf as _, TaskWrites, borrowed};
use crate::error::{NodeError, contained};
use crate::graph::Graph;
use crate::node::{ArgsOf, Body, PacketKind, PacketMissing, ReadsPacket, Runs, Shape, Signature, Source};
use crate::state::GraphState;
use crate::step::{Choice, ErasedStep, IntoStep, Leave, NodeRef};

use super::context::MakesContext;
use super::node::{GraphSource, Inner, Persistence, Subgraph};
use super::wiring::{Fits, WiredTo, Wiring};

/// A lazy subgraph returned a parent command that its parent graph could not check when it was compiled.
#[derive(Debug, thiserror::Error)]
#[error(
    "a node of the subgraph returned `ParentCommand` with a route or for another state, which a lazy subgraph cannot do: make the \
     subgraph with `Graph::as_node`"
)]
struct LazyParentCommand;

/// Marks the shape of a [`Subgraph`].
#[derive(Debug)]
pub enum IsSubgraph {}

/// The parameters of a [`Subgraph`].
pub struct SubgraphArgs<C, D, W, X>(PhantomData<fn(C, D, W, X)>);

#[diagnostic::do_not_recommend]
impl<C: GraphState, D, W: Wiring<C>, X> Shape<IsSubgraph> for Subgraph<C, D, W, X> {
    type Signature = Signature<SubgraphArgs<C, D, W, X>, W::Output>;
    type Body = Body<Inner<C, D, W, X>>;

    fn into_body(self) -> Self::Body {
        Body { node: NodeRef::Named(self.name), run: self.inner }
    }
}

#[diagnostic::do_not_recommend]
impl<C: GraphState, D, W: Wiring<C>, X> Shape<IsSubgraph> for &Subgraph<C, D, W, X> {
    type Signature = Signature<SubgraphArgs<C, D, W, X>, W::Output>;
    type Body = Body<Inner<C, D, W, X>>;

    fn into_body(self) -> Self::Body {
        self.clone().into_body()
    }
}

impl<C: GraphState, D, W: Wiring<C>, X> ReadsPacket for SubgraphArgs<C, D, W, X> {
    type Packet = W::Packet;
}

impl<S, E, C, D, W, X> ArgsOf<S, E> for SubgraphArgs<C, D, W, X>
where
    C: GraphState,
    W: Fits<C, S>,
    X: MakesContext<E, D>,
{
    type Fixed = Self;
}

impl<S, E, C, D, W, X> Runs<S, E, Inner<C, D, W, X>, W::Output> for SubgraphArgs<C, D, W, X>
where
    S: GraphState,
    E: Send + Sync + 'static,
    C: GraphState,
    D: Send + Sync + 'static,
    W: WiredTo<C, S, Output: IntoStep<S>>,
    X: MakesContext<E, D>,
{
    fn erase(run: Arc<Inner<C, D, W, X>>) -> Box<dyn ErasedNode> {
        Box::new(ErasedSubgraph::<S, E, C, D, W, X> {
            inner: run,
            command_exits: OnceLock::new(),
            types: PhantomData,
        })
    }
}

impl<C: GraphState, D, W: Wiring<C>, X> Inner<C, D, W, X> {
    /// Returns the storage of a call.
    fn storage<S: GraphState>(&self, state: &S, packet: Option<&Packet>) -> CallStorage
    where
        W: WiredTo<C, S>,
    {
        let key = self.key.as_ref().filter(|_| self.persistence == Persistence::PerThread);
        self.persistence.storage(key.and_then(|key| W::key(key, state, packet)))
    }
}

struct ErasedSubgraph<S, E, C: GraphState, D, W: Wiring<C>, X> {
    inner: Arc<Inner<C, D, W, X>>,
    /// For each route type of a parent command: the index of its first exit among the node's exits.
    command_exits: OnceLock<Vec<(TypeId, usize)>>,
    types: PhantomData<fn(S, E)>,
}

impl<S: GraphState, E, C: GraphState, D, W: Wiring<C>, X> ErasedSubgraph<S, E, C, D, W, X> {
    /// Returns the result of a call that ended with parent commands.
    fn with_commands(&self, call_result: ErasedCallResult, state: &S) -> Result<ErasedStep, NodeError>
    where
        W: WiredTo<C, S>,
    {
        let (mut writes, mut choices) = (W::written(call_result.update)?, Vec::new());
        for command in call_result.parent_commands {
            match command.update(S::TYPE) {
                Some(written) => writes = followed_by(state, writes, written)?,
                None if command.writes() => return Err(LazyParentCommand.into()),
                None => {}
            }
            let Some(leave) = command.leave else { continue };
            let (route, leave) = *leave;
            let exits = self.command_exits.get().and_then(|exits| exits.iter().find(|(at, _)| *at == route));
            let Some((_, exits)) = exits else { return Err(LazyParentCommand.into()) };
            let taken = leave.choices().iter().cloned();
            choices.extend(taken.map(|choice| Choice { exit: choice.exit + exits, ..choice }));
        }
        let leave = if choices.is_empty() { Leave::ByEdges } else { Leave::ByAll(choices) };
        Ok(ErasedStep { writes, leave })
    }
}

impl<S, E, C, D, W, X> ErasedNode for ErasedSubgraph<S, E, C, D, W, X>
where
    S: GraphState,
    E: Send + Sync + 'static,
    C: GraphState,
    D: Send + Sync + 'static,
    W: WiredTo<C, S>,
    X: MakesContext<E, D>,
{
    fn call<'a>(
        &'a self,
        state: &'a dyn ErasedState,
        packet: Option<&'a Packet>,
        ctx: &'a dyn ErasedContext,
        spare: TaskWrites,
    ) -> StepFuture<'a> {
        Box::pin(async move {
            let inner = &*self.inner;
            let Source { state, packet, ctx } = ErasedSource { state, packet, ctx }.typed::<S, E>()?;
            let graph: Graph<C, D> = inner.graph.graph();
            let start = inner.wiring.start(state, packet).ok_or(PacketMissing)?;
            let storage = inner.storage(state, packet);
            let call = Call {
                graph: graph.erased(),
                context: inner.context.context(ctx),
                start,
                storage,
                recursion_limit: inner.recursion_limit,
                packets: W::Packet::packet_type().is_some(),
            };
            let call_result = run_call(call, ctx).await?;
            if call_result.parent_commands.is_empty() {
                inner.wiring.finish(call_result).and_then(|step| ErasedStep::of(step, spare, ctx.preparing()))
            } else {
                self.with_commands(call_result, state)
            }
        })
    }

    fn as_subgraph(&self) -> Option<&dyn SubgraphNode> {
        Some(self)
    }
}

impl<S, E, C, D, W, X> SubgraphNode for ErasedSubgraph<S, E, C, D, W, X>
where
    S: GraphState,
    E: Send + Sync + 'static,
    C: GraphState,
    D: Send + Sync + 'static,
    W: WiredTo<C, S>,
    X: MakesContext<E, D>,
{
    fn graph(&self) -> Option<&Compiled> {
        match &self.inner.graph {
            GraphSource::Built(graph) => Some(&graph.0),
            GraphSource::Lazy(_) => None,
        }
    }

    fn is_on_parent_state(&self) -> bool {
        W::HERE
    }

    fn set_command_exits(&self, exits: Vec<(TypeId, usize)>) {
        let _ = self.command_exits.set(exits);
    }

    fn stored_call<'a>(&self, state: &'a dyn ErasedState, packet: Option<&Packet>) -> Option<StoredCall<'a>> {
        let state = borrowed::<S>(state)?;
        // If the key function panics, the task has failed and there is no call.
        let storage = contained(|| self.inner.storage(state, packet))
            .ok()
            .filter(|storage| *storage != CallStorage::Nothing)?;
        let base = W::base(state).map(|base| base as &dyn ErasedState);
        Some(StoredCall { storage, packets: W::Packet::packet_type().is_some(), base })
    }

    fn kept_state(&self) -> KeptState {
        let keeps = self.inner.persistence == Persistence::PerThread;
        let storage = self.inner.persistence.storage(None);
        let loses = storage.loses_state_inside(W::Packet::packet_type().is_some());
        match &self.inner.graph {
            GraphSource::Built(graph) => {
                let KeptStates { paths, unknown } = &graph.0.kept_states;
                KeptState { keeps, loses, inside: paths.clone(), unknown: *unknown }
            }
            // A lazy subgraph may be the graph that is being compiled. Its calls check the subgraphs inside.
            GraphSource::Lazy(_) => KeptState { keeps, loses, inside: Vec::new(), unknown: true },
        }
    }
}
