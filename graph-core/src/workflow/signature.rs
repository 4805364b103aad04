//! Bounds on the function of a workflow, in the order in which rustc reports them.

use std::any::TypeId;

use crate::engine::ErasedNode;
use crate::erased::Payload;
use crate::node::{
    ArgsOf, Body, CallWith, Carries, ExtractAll, InNode, Instead, NoPacket, NotANode, PacketKind,
    ReadsPacket, Signature,
};
use crate::step::NodeRef;

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

impl<K> FunctionInput for NotANode<K> {
    type Input = ();
}

impl<K> FunctionOutput for NotANode<K> {
    type WorkflowResult = ();
}

impl<I, R, D, K: Instead> RunsAlone<I, R, D, Self> for NotANode<K> {
    fn only_node(_: Self) -> OnlyNode {
        K::never()
    }
}

/// A function that can be the only node of a graph. One impl for all types, which rustc does not list.
pub trait OnlyFunction<I, R, D, B>: RunsAlone<I, R, D, B> {}

impl<I, R, D, B, G: RunsAlone<I, R, D, B>> OnlyFunction<I, R, D, B> for G {}

/// A function that can be the only node of a graph.
pub trait RunsAlone<I, R, D, B> {
    #[doc(hidden)]
    fn only_node(body: B) -> OnlyNode;
}

/// The only node of a workflow's graph.
#[doc(hidden)]
pub struct OnlyNode {
    pub(super) node: NodeRef,
    pub(super) run: Box<dyn ErasedNode>,
    pub(super) function: TypeId,
}

impl<I, R, D, F, Args, Out> RunsAlone<I, R, D, Body<F>> for Signature<Args, Out>
where
    I: Payload,
    R: WorkflowResult,
    D: Send + Sync + 'static,
    Args: ArgsOf<Flow<I, R>, D, Fixed: ExtractAll<Flow<I, R>, D>>,
    F: for<'a> CallWith<'a, Args::Fixed> + Send + Sync + 'static,
    for<'a> <F as CallWith<'a, Args::Fixed>>::Out: Future<Output = Out> + Send,
    Out: WorkflowReturn<WorkflowResult = R>,
{
    fn only_node(body: Body<F>) -> OnlyNode {
        let Body { node, run } = body;
        let run = Box::new(Function::<I, R, D, F, Args::Fixed, Out>::new(run));
        OnlyNode { node, run, function: TypeId::of::<F>() }
    }
}
