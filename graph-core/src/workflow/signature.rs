//! What is asked of the function of a workflow, from what rustc shall say first to what it says last.

use std::any::TypeId;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::StateGraph;
use crate::node::{
    ArgsOf, Body, CallWith, Carries, InNode, NoPacket, NodeRef, PacketKind, Payload, ReadsPacket, Runs,
    Signature,
};

use super::function::{Came, Function, WithInput};
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
///
/// What is wrong with a parameter lies some levels deep, and rustc reports everything that it finds on the first level on which
/// it finds anything: what follows from such a mistake has to lie deeper, hence the traits behind this one.
pub trait RunsAlone<I, R, D, B> {
    #[doc(hidden)]
    fn function(body: B) -> Box<dyn Alone<I, R, D>>;
}

/// One whose parameters are there.
pub trait ReadsInput<I, R, D, B>: Sized {
    #[doc(hidden)]
    fn function(body: B) -> Box<dyn Alone<I, R, D>>;
}

/// One that can be called with them.
pub trait Callable<I, R, D, B> {
    #[doc(hidden)]
    fn function(body: B) -> Box<dyn Alone<I, R, D>>;
}

/// One of a workflow whose values can be stored.
pub trait Stores<I, R, D, B> {
    #[doc(hidden)]
    fn function(body: B) -> Box<dyn Alone<I, R, D>>;
}

impl<I, R, D, B, T: Stores<I, R, D, B>> RunsAlone<I, R, D, B> for T {
    fn function(body: B) -> Box<dyn Alone<I, R, D>> {
        <T as Stores<I, R, D, B>>::function(body)
    }
}

impl<I: Payload, R: Returned, D, B, T: ReadsInput<I, R, D, B>> Stores<I, R, D, B> for T {
    fn function(body: B) -> Box<dyn Alone<I, R, D>> {
        <T as ReadsInput<I, R, D, B>>::function(body)
    }
}

impl<I, R, D, B, Args, Out> ReadsInput<I, R, D, B> for Signature<Args, Out>
where
    I: Payload,
    R: Returned,
    Args: ArgsOf<Flow<I, R>, D>,
    Self: Callable<I, R, D, B>,
{
    fn function(body: B) -> Box<dyn Alone<I, R, D>> {
        <Self as Callable<I, R, D, B>>::function(body)
    }
}

impl<I, R, D, F, Args, Out> Callable<I, R, D, Body<F>> for Signature<Args, Out>
where
    I: Payload,
    R: Returned,
    D: Send + Sync + 'static,
    Args: ArgsOf<Flow<I, R>, D>,
    Out: Finishes<Returned = R>,
    // Asked of the function before it is asked of what stands around it, whose future is none of the user's.
    F: for<'a> CallWith<'a, Args::Fixed, Out> + 'static,
    for<'a> <F as CallWith<'a, Args::Fixed, Out>>::Fut: Send,
    Args::Fixed: Runs<Flow<I, R>, D, Function<F, Out>, Came<Out>> + 'static,
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
    F: 'static,
    Args: Runs<Flow<I, R>, D, Function<F, Out>, Came<Out>>,
{
    fn node(&self) -> &NodeRef {
        &self.body.node
    }

    fn graph(self: Box<Self>) -> StateGraph<Flow<I, R>, D> {
        let Body { node, run } = self.body;
        let graph = StateGraph::<Flow<I, R>>::with_context::<D>().name(node.name());
        graph.alone(node, Box::new(WithInput(Args::erase(Arc::new(Function::new(run))))), TypeId::of::<F>())
    }
}
