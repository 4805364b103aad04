//! Bounds on the function of a workflow, in the order in which rustc reports them.

use std::any::TypeId;
use std::marker::PhantomData;

use crate::StateGraph;
use crate::node::{
    ArgsOf, Body, Calls, Carries, InNode, NoPacket, NodeRef, PacketKind, Payload, ReadsPacket, Signature,
};

use super::function::Function;
use super::{Finishes, Flow, Returned};

/// A function that takes the input of a run as `&T`, or no input.
pub trait Takes {
    /// The input type, `()` without an input.
    type Input;
}

/// A function that returns the result of a run.
pub trait Gives {
    /// The result type: a value, or a [`Final`](super::Final).
    type Returned;
}

/// The input of a run whose function reads this packet.
pub trait Taken: PacketKind {
    /// The input type.
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
        Box::new(ErasedFunction::<F, Args::Fixed, Out> { body, signature: PhantomData })
    }
}

/// The erased function of a workflow before it is compiled.
#[doc(hidden)]
pub trait Alone<I, R, D> {
    fn node(&self) -> &NodeRef;

    /// Builds the graph with the function as its only node.
    fn graph(self: Box<Self>) -> StateGraph<Flow<I, R>, D>
    where
        I: Payload,
        R: Returned;
}

struct ErasedFunction<F, Args, Out> {
    body: Body<F>,
    signature: PhantomData<fn(Args) -> Out>,
}

impl<I, R, D, F, Args, Out> Alone<I, R, D> for ErasedFunction<F, Args, Out>
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
