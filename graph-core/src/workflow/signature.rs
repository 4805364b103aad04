//! Bounds on the function of a workflow, in the order in which rustc reports them.

use std::any::TypeId;
use std::marker::PhantomData;

use crate::StateGraph;
use crate::node::{
    ArgsOf, Body, Calls, Carries, InNode, NoPacket, NodeRef, PacketKind, Payload, ReadsPacket, Signature,
};

use super::function::Function;
use super::{Flow, WorkflowResult, WorkflowReturn};

/// A function that takes the input of a run as `&T`, or no input.
pub trait FunctionInput {
    /// The input type, `()` without an input.
    type Input;
}

/// A function that returns the result of a run.
pub trait FunctionOutput {
    /// The result type: a value, or a [`Final`](super::Final).
    type WorkflowResult;
}

/// The input of a run whose function reads this packet.
pub trait InputPacket: PacketKind {
    /// The input type.
    type Input;
}

impl InputPacket for NoPacket {
    type Input = ();
}

impl<T: 'static> InputPacket for Carries<T> {
    type Input = T;
}

impl<Args: ReadsPacket<Packet: InNode + InputPacket>, Out> FunctionInput for Signature<Args, Out> {
    type Input = <Args::Packet as InputPacket>::Input;
}

impl<Args, Out: WorkflowReturn> FunctionOutput for Signature<Args, Out> {
    type WorkflowResult = Out::WorkflowResult;
}

/// A function that can be the only node of a graph.
pub trait RunsAlone<I, R, D, B> {
    #[doc(hidden)]
    fn function(body: B) -> Box<dyn Alone<I, R, D>>;
}

impl<I, R, D, F, Args, Out> RunsAlone<I, R, D, Body<F>> for Signature<Args, Out>
where
    I: Payload,
    R: WorkflowResult,
    D: Send + Sync + 'static,
    Args: ArgsOf<Flow<I, R>, D>,
    Args::Fixed: Calls<Flow<I, R>, D, F, Out> + 'static,
    F: Send + Sync + 'static,
    Out: WorkflowReturn<WorkflowResult = R>,
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
        R: WorkflowResult;
}

struct ErasedFunction<F, Args, Out> {
    body: Body<F>,
    signature: PhantomData<fn(Args) -> Out>,
}

impl<I, R, D, F, Args, Out> Alone<I, R, D> for ErasedFunction<F, Args, Out>
where
    I: Payload,
    R: WorkflowResult,
    D: Send + Sync + 'static,
    F: Send + Sync + 'static,
    Args: Calls<Flow<I, R>, D, F, Out> + 'static,
    Out: WorkflowReturn<WorkflowResult = R>,
{
    fn node(&self) -> &NodeRef {
        &self.body.node
    }

    fn graph(self: Box<Self>) -> StateGraph<Flow<I, R>, D> {
        let Body { node, run } = self.body;
        let graph = StateGraph::<Flow<I, R>>::with_context::<D>().name(node.name());
        graph.alone(node, Box::new(Function::<I, R, D, F, Args, Out>::new(run)), TypeId::of::<F>())
    }
}
