//! What is asked of the function of a workflow, from what rustc shall say first to what it says last.

use std::any::TypeId;
use std::marker::PhantomData;

use crate::StateGraph;
use crate::node::{
    ArgsOf, Body, Calls, Carries, InNode, NoPacket, NodeRef, PacketKind, Payload, ReadsPacket, Signature,
};

use super::function::Function;
use super::{Finishes, Flow, Returned};

/// A function that takes what a run begins with: `&T`, or nothing.
pub trait Takes {
    /// That type; `()` for nothing.
    type Input;
}

/// A function that returns what a run comes to.
pub trait Gives {
    /// A value, or a [`Final`](super::Final).
    type Returned;
}

/// What a run begins with whose function reads such a packet.
pub trait Taken: PacketKind {
    /// The type.
    type Input;
}

impl Taken for NoPacket {
    type Input = ();
}

impl<T: 'static> Taken for Carries<T> {
    type Input = T;
}

impl<Args: ReadsPacket<Packet: InNode + Taken>, Out> Takes for Signature<Args, Out> {
    type Input = <Args::Packet as Taken>::Input;
}

impl<Args, Out: Finishes> Gives for Signature<Args, Out> {
    type Returned = Out::Returned;
}

/// A function that can be the only node of a graph.
pub trait RunsAlone<I, R, D, B> {
    #[doc(hidden)]
    fn function(body: B) -> Box<dyn Alone<I, R, D>>;
}

impl<I, R, D, F, Args, Out> RunsAlone<I, R, D, Body<F>> for Signature<Args, Out>
where
    I: Payload,
    R: Returned,
    D: Send + Sync + 'static,
    Args: ArgsOf<Flow<I, R>, D>,
    Args::Fixed: Calls<Flow<I, R>, D, F, Out> + 'static,
    F: Send + Sync + 'static,
    Out: Finishes<Returned = R>,
{
    fn function(body: Body<F>) -> Box<dyn Alone<I, R, D>> {
        Box::new(Entry::<F, Args::Fixed, Out> { body, signature: PhantomData })
    }
}

/// The function of a workflow that is still to be made, whatever it takes and returns.
#[doc(hidden)]
pub trait Alone<I, R, D> {
    fn node(&self) -> &NodeRef;

    /// The graph of which it is the only node.
    fn graph(self: Box<Self>) -> StateGraph<Flow<I, R>, D>
    where
        I: Payload,
        R: Returned;
}

struct Entry<F, Args, Out> {
    body: Body<F>,
    signature: PhantomData<fn(Args) -> Out>,
}

impl<I, R, D, F, Args, Out> Alone<I, R, D> for Entry<F, Args, Out>
where
    I: Payload,
    R: Returned,
    D: Send + Sync + 'static,
    F: Send + Sync + 'static,
    Args: Calls<Flow<I, R>, D, F, Out> + 'static,
    Out: Finishes<Returned = R>,
{
    fn node(&self) -> &NodeRef {
        &self.body.node
    }

    fn graph(self: Box<Self>) -> StateGraph<Flow<I, R>, D> {
        let Body { node, run } = self.body;
        let graph = StateGraph::<Flow<I, R>>::with_context::<D>().name(node.name());
        graph.alone(node, Box::new(Function::<F, Args, Out>::new(run)), TypeId::of::<F>())
    }
}
