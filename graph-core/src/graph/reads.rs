//! What the builder's methods ask of a place before they ask whether it may stand there.
//!
//! [`Runnable`](super::Runnable) asks the same again, because it needs it. Asked here of the signature alone, rustc's
//! message is about the parameter or the result and ends there. It takes the message that it comes to first, level by
//! level, so what is asked here must not lie deeper than it does there.

use serde::de::DeserializeOwned;

use crate::node::{
    ArgsOf, Carries, EndSignature, InNode, IntoStep, NoPacket, ReadsPacket, Several, Signature,
    StartSignature, WithFailure,
};
use crate::state::GraphState;

/// A place whose parameters a graph over `S` with context `D` can provide.
pub trait Reads<S, D> {}

/// A place whose result a graph over `S` can use.
pub trait Returns<S> {}

/// A place that an edge can lead to: its node takes no packet.
pub trait WithoutPacket<S> {}

/// An error handler whose parameters a graph over `S` with context `D` can provide.
pub trait HandlerReads<S, D> {}

impl<S, D, Args: ArgsOf<S, D> + ReadsPacket<Packet: InNode>, Out> Reads<S, D> for Signature<Args, Out> {}

impl<S, D, Args: ArgsOf<S, D> + ReadsPacket, Out> HandlerReads<S, D> for Signature<Args, Out> {}

impl<S: GraphState, Args, Out: IntoStep<S>> Returns<S> for Signature<Args, Out> {}

impl<S, Args: ReadsPacket<Packet: OnEdge<S>>, Out> WithoutPacket<S> for Signature<Args, Out> {}

// These are no single node, so there is nothing to ask of them here.
macro_rules! no_node {
    ($([$($generics:ident)?] $signature:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<S, D, $($generics)?> Reads<S, D> for $signature {}

        #[diagnostic::do_not_recommend]
        impl<S, D, $($generics)?> HandlerReads<S, D> for $signature {}

        #[diagnostic::do_not_recommend]
        impl<S, $($generics)?> Returns<S> for $signature {}

        #[diagnostic::do_not_recommend]
        impl<S, $($generics)?> WithoutPacket<S> for $signature {}
    )*};
}

no_node! {
    [] StartSignature;
    [] EndSignature;
    [T] Several<T>;
}

/// What an edge carries: no packet.
pub trait OnEdge<S> {}

#[diagnostic::do_not_recommend]
impl<S> OnEdge<S> for NoPacket {}

/// There only so that a handler in a node's place is one mistake: that it reads a failure.
#[diagnostic::do_not_recommend]
impl<S, P> OnEdge<S> for WithFailure<P> {}

impl<S, T: OnlyByRoute<S>> OnEdge<S> for Carries<T> {}

/// Never implemented: it is where rustc's message about a packet behind an edge comes from.
///
/// The supertrait is that of a packet, so that a type which is none is one mistake and not two.
#[diagnostic::on_unimplemented(
    message = "a node behind an edge of this graph cannot read `{Self}`",
    label = "reads `{Self}`, which is neither the state `{S}` nor a view of it",
    note = "if `{Self}` is a packet: it reaches its node through a route, by a variant `#[to(node)] Name({Self})`; if it is the graph's context: take `&ContextWith<{Self}>`"
)]
pub trait OnlyByRoute<S>: DeserializeOwned {}
