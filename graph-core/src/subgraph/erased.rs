use std::marker::PhantomData;
use std::sync::Arc;

use crate::engine::Ctx;
use crate::engine::child::{Call, Kept, visit};
use crate::graph::Graph;
use crate::node::{
    ArgsOf, Body, ErasedNode, IntoStep, NodeRef, Packet, PacketKind, PacketMissing, ReadsPacket, Runs, Shape,
    Signature, StepFuture,
};
use crate::state::GraphState;

use super::context::MakesContext;
use super::node::{Inner, Keeping, Subgraph};
use super::wiring::{Fits, WiredTo, Wiring};

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
    fn erase(run: Arc<Inner<C, D, W, X>>) -> Box<dyn ErasedNode<S, E>> {
        Box::new(Erased(run))
    }
}

struct Erased<C: GraphState, D, W: Wiring<C>, X>(Arc<Inner<C, D, W, X>>);

impl<S, E, C, D, W, X> ErasedNode<S, E> for Erased<C, D, W, X>
where
    S: GraphState,
    E: Send + Sync + 'static,
    C: GraphState,
    D: Send + Sync + 'static,
    W: WiredTo<C, S>,
    X: MakesContext<E, D>,
{
    fn call<'a>(&'a self, state: &'a S, packet: Option<&'a Packet>, ctx: &'a Ctx<E>) -> StepFuture<'a, S> {
        Box::pin(async move {
            let inner = &*self.0;
            let graph: Graph<C, D> = inner.graph.graph();
            let beginning = inner.wiring.beginning(state, packet).ok_or(PacketMissing)?;
            let kept = match inner.keeping {
                Keeping::Nothing => Kept::Nothing,
                Keeping::Call => Kept::Call,
                Keeping::Thread => {
                    Kept::Thread(inner.key.as_ref().and_then(|key| W::key(key, state, packet)))
                }
            };
            let call = Call {
                graph,
                context: inner.context.context(ctx),
                beginning,
                kept,
                recursion_limit: inner.recursion_limit,
                packets: W::Packet::packet_type().is_some(),
            };
            inner.wiring.finish(visit(call, ctx).await?)
        })
    }
}
