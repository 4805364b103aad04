use std::any::TypeId;
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

use crate::engine::child::{Call, Came, Kept, followed_by, visit};
use crate::engine::{ErasedContext, ErasedState, StateTypeOf as _, TaskWrites, contained};
use crate::graph::{Graph, Inside, KeptState, KeptStates};
use crate::node::{
    ArgsOf, Body, Choice, ErasedNode, ErasedSource, ErasedStep, IntoStep, Leave, MarkedFuture, NodeError,
    NodeRef, Packet, PacketKind, PacketMissing, ParentCommandType, ReadsPacket, Runs, Shape, Signature,
    Source, StepFuture, SubgraphNode,
};
use crate::state::GraphState;
use crate::state::erase::borrowed;
use crate::thread::OpenTask;

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
    fn kept<S: GraphState>(&self, state: &S, packet: Option<&Packet>) -> Kept
    where
        W: WiredTo<C, S>,
    {
        let key = self.key.as_ref().filter(|_| self.persistence == Persistence::PerThread);
        self.persistence.kept(key.and_then(|key| W::key(key, state, packet)))
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
    fn with_commands(&self, came: Came, state: &S) -> Result<ErasedStep, NodeError>
    where
        W: WiredTo<C, S>,
    {
        let (mut writes, mut choices) = (W::written(came.update)?, Vec::new());
        for outward in came.said {
            match outward.update(S::TYPE) {
                Some(written) => writes = followed_by(state, writes, written)?,
                None if outward.writes() => return Err(LazyParentCommand.into()),
                None => {}
            }
            let Some(leave) = outward.leave else { continue };
            let (route, leave) = *leave;
            let exits = self.command_exits.get().and_then(|exits| exits.iter().find(|(at, _)| *at == route));
            let Some((_, exits)) = exits else { return Err(LazyParentCommand.into()) };
            let taken = match leave {
                Leave::By(choice) => vec![choice],
                Leave::ByAll(all) => all,
                Leave::ByEdges | Leave::ErasedParentCommand(_) => Vec::new(),
            };
            choices.extend(taken.into_iter().map(|choice| Choice { exit: choice.exit + exits, ..choice }));
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
            let beginning = inner.wiring.beginning(state, packet).ok_or(PacketMissing)?;
            let kept = inner.kept(state, packet);
            let call = Call {
                graph: graph.erased(),
                context: inner.context.context(ctx),
                beginning,
                kept,
                recursion_limit: inner.recursion_limit,
                packets: W::Packet::packet_type().is_some(),
            };
            let came = visit(call, ctx).await?;
            if came.said.is_empty() {
                inner.wiring.finish(came).and_then(|step| ErasedStep::of(step, spare, ctx))
            } else {
                self.with_commands(came, state)
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
    fn heard(&self) -> Vec<ParentCommandType> {
        match &self.inner.graph {
            GraphSource::Built(graph) => graph.0.outward.clone(),
            // A lazy subgraph may be the graph that is being compiled, so its commands are unknown here.
            GraphSource::Lazy(_) => Vec::new(),
        }
    }

    fn hears_at(&self, exits: Vec<(TypeId, usize)>) {
        let _ = self.command_exits.set(exits);
    }

    fn marked<'a>(&'a self, task: OpenTask<'a>) -> MarkedFuture<'a> {
        Box::pin(async move {
            let GraphSource::Built(graph) = &self.inner.graph else { return Ok(Vec::new()) };
            let Some(state) = borrowed::<S>(task.state()) else { return Ok(Vec::new()) };
            // If the key function panics, the task has failed and there is no call to show.
            let kept = contained(|| self.inner.kept(state, task.packet()));
            let Some(kept) = kept.ok().filter(|kept| *kept != Kept::Nothing) else { return Ok(Vec::new()) };
            let base = W::base(state).map(|base| base as &dyn ErasedState);
            task.marks_of_call(&graph.0, &kept, W::Packet::packet_type().is_some(), base).await
        })
    }

    fn kept_state(&self) -> KeptState {
        let keeps = self.inner.persistence == Persistence::PerThread;
        let kept = self.inner.persistence.kept(None);
        let loses = kept.loses_state_inside(W::Packet::packet_type().is_some());
        match &self.inner.graph {
            GraphSource::Built(graph) => {
                let KeptStates { paths, unknown } = &graph.0.kept_states;
                KeptState { keeps, loses, inside: paths.clone(), unknown: *unknown }
            }
            // A lazy subgraph may be the graph that is being compiled. Its calls check the subgraphs inside.
            GraphSource::Lazy(_) => KeptState { keeps, loses, inside: Vec::new(), unknown: true },
        }
    }

    fn inside(&self) -> Option<Inside> {
        match &self.inner.graph {
            GraphSource::Built(graph) => Some(Inside::of(&graph.0)),
            // A recursive subgraph would never end.
            GraphSource::Lazy(_) => None,
        }
    }
}
