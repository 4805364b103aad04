use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::engine::{Context, ErasedContext, ErasedNode, ErasedSource, StepFuture};
use crate::erased::{ErasedState, Packet, Payload, TaskWrites};
use crate::state::GraphState;
use crate::step::{ErasedStep, IntoStep};

use super::StateOrPacket;
use super::call::Runs;
use super::function::{ArgsOf, PacketMissing, Signature};
use super::param::{ByRef, Carries, Extract, NoPacket, Role};
use super::reads_packet::ReadsPacket;
use super::shape::{Body, Shape};
use crate::step::ReadState;

/// A node that is a struct, so that it can have fields.
///
/// `C` is the context parameter of [`run`](Node::run). [`Context`] fits every graph, and
/// [`ContextWith<D>`](crate::ContextWith) the graphs with that application context. A struct without fields is its own
/// identity. Any other struct needs a name from [`named`](crate::named).
///
/// `Reads` is the graph's state, or a state that is flattened into it.
pub trait Node<C = Context>: Send + Sync + 'static {
    /// The state that the node reads.
    type Reads: StateOrPacket;
    /// The result: an update, a route, both, or a `Result` of these.
    type Output: Send + 'static;

    /// Runs one attempt.
    fn run(&self, state: &Self::Reads, cx: &C) -> impl Future<Output = Self::Output> + Send;
}

/// A node that is a struct and takes a packet.
pub trait PacketNode<C = Context>: Send + Sync + 'static {
    /// The state that the node reads.
    type Reads: StateOrPacket;
    /// The packet's payload.
    type Packet: Payload;
    /// The result: an update, a route, both, or a `Result` of these.
    type Output: Send + 'static;

    /// Runs one attempt on one packet.
    fn run(
        &self,
        state: &Self::Reads,
        packet: &Self::Packet,
        cx: &C,
    ) -> impl Future<Output = Self::Output> + Send;
}

/// Marks the shape of a [`Node`].
pub struct IsNode<C>(PhantomData<C>);
/// Marks the shape of a [`PacketNode`].
pub struct IsPacketNode<C>(PhantomData<C>);

/// The parameters of a [`Node`].
pub struct NodeArgs<R, C>(PhantomData<fn(R, C)>);
/// The parameters of a [`PacketNode`].
pub struct PacketNodeArgs<R, P, C>(PhantomData<fn(R, P, C)>);

impl<C, N: Node<C>> Shape<IsNode<C>> for N {
    type Signature = Signature<NodeArgs<N::Reads, C>, N::Output>;
    type Body = Body<N>;

    fn into_body(self) -> Body<N> {
        Body::of(self)
    }
}

impl<C, N: PacketNode<C>> Shape<IsPacketNode<C>> for N {
    type Signature = Signature<PacketNodeArgs<N::Reads, N::Packet, C>, N::Output>;
    type Body = Body<N>;

    fn into_body(self) -> Body<N> {
        Body::of(self)
    }
}

impl<R: StateOrPacket<Role: Role<R>>, C> ReadsPacket for NodeArgs<R, C> {
    type Packet = NoPacket;

    fn states(into: &mut Vec<ReadState>) {
        into.extend(<R::Role as Role<R>>::state());
    }
}

impl<R: StateOrPacket<Role: Role<R>>, P: 'static, C> ReadsPacket for PacketNodeArgs<R, P, C> {
    type Packet = Carries<P>;

    fn states(into: &mut Vec<ReadState>) {
        into.extend(<R::Role as Role<R>>::state());
    }
}

impl<S, D, R, C> ArgsOf<S, D> for NodeArgs<R, C>
where
    ByRef<R>: Extract<S, D>,
    ByRef<C>: Extract<S, D>,
{
    type Fixed = Self;
}

impl<S, D, R, P, C> ArgsOf<S, D> for PacketNodeArgs<R, P, C>
where
    ByRef<R>: Extract<S, D>,
    ByRef<C>: Extract<S, D>,
{
    type Fixed = Self;
}

struct StructNode<S, D, N, C>(Arc<N>, PhantomData<fn(S, D, C)>);
struct PacketStructNode<S, D, N, C>(Arc<N>, PhantomData<fn(S, D, C)>);

impl<S, D, N, C, R> Runs<S, D, N, N::Output> for NodeArgs<R, C>
where
    S: GraphState,
    D: Send + Sync + 'static,
    R: 'static,
    C: 'static,
    N: Node<C, Reads = R, Output: IntoStep<S>>,
    ByRef<R>: for<'a> Extract<S, D, At<'a> = &'a R>,
    ByRef<C>: for<'a> Extract<S, D, At<'a> = &'a C>,
{
    fn erase(run: Arc<N>) -> Box<dyn ErasedNode> {
        Box::new(StructNode::<S, D, N, C>(run, PhantomData))
    }
}

impl<S, D, N, C, P, R> Runs<S, D, N, N::Output> for PacketNodeArgs<R, P, C>
where
    S: GraphState,
    D: Send + Sync + 'static,
    R: 'static,
    C: 'static,
    N: PacketNode<C, Packet = P, Reads = R, Output: IntoStep<S>>,
    ByRef<R>: for<'a> Extract<S, D, At<'a> = &'a R>,
    ByRef<C>: for<'a> Extract<S, D, At<'a> = &'a C>,
{
    fn erase(run: Arc<N>) -> Box<dyn ErasedNode> {
        Box::new(PacketStructNode::<S, D, N, C>(run, PhantomData))
    }
}

impl<S, D, N, C, R> ErasedNode for StructNode<S, D, N, C>
where
    S: GraphState,
    D: Send + Sync + 'static,
    R: 'static,
    C: 'static,
    N: Node<C, Reads = R, Output: IntoStep<S>>,
    ByRef<R>: for<'a> Extract<S, D, At<'a> = &'a R>,
    ByRef<C>: for<'a> Extract<S, D, At<'a> = &'a C>,
{
    fn call<'a>(
        &'a self,
        state: &'a dyn ErasedState,
        packet: Option<&'a Packet>,
        ctx: &'a dyn ErasedContext,
        spare: TaskWrites,
    ) -> StepFuture<'a> {
        Box::pin(async move {
            let from = ErasedSource { state, packet, ctx }.typed::<S, D>()?;
            let (Some(state), Some(cx)) = (ByRef::<R>::extract(from), ByRef::<C>::extract(from)) else {
                return Err(PacketMissing.into());
            };
            ErasedStep::of_output::<S, _>(self.0.run(state, cx).await, spare, from.ctx.preparing())
        })
    }
}

impl<S, D, N, C, R> ErasedNode for PacketStructNode<S, D, N, C>
where
    S: GraphState,
    D: Send + Sync + 'static,
    R: 'static,
    C: 'static,
    N: PacketNode<C, Reads = R, Output: IntoStep<S>>,
    ByRef<R>: for<'a> Extract<S, D, At<'a> = &'a R>,
    ByRef<C>: for<'a> Extract<S, D, At<'a> = &'a C>,
{
    fn call<'a>(
        &'a self,
        state: &'a dyn ErasedState,
        packet: Option<&'a Packet>,
        ctx: &'a dyn ErasedContext,
        spare: TaskWrites,
    ) -> StepFuture<'a> {
        Box::pin(async move {
            let from = ErasedSource { state, packet, ctx }.typed::<S, D>()?;
            let (Some(state), Some(packet), Some(cx)) = (
                ByRef::<R>::extract(from),
                packet.and_then(|packet| packet.get::<N::Packet>()),
                ByRef::<C>::extract(from),
            ) else {
                return Err(PacketMissing.into());
            };
            ErasedStep::of_output::<S, _>(self.0.run(state, packet, cx).await, spare, from.ctx.preparing())
        })
    }
}
