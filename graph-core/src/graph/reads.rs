//! Bounds on nodes that the builder's methods check before the bounds on edge ends.
//!
//! [`Runnable`](super::Runnable) has the same bounds, because it needs them. Here they are bounds on the signature
//! alone, so that rustc's message is about the parameter or the result and nothing else. rustc reports the first
//! unsatisfied bound, level by level, so a bound must not lie deeper here than there.

use serde::de::DeserializeOwned;

use crate::node::{
    ArgsOf, Carries, EndSignature, InNode, NoPacket, ReadsPacket, Several, Signature, StartSignature,
    Undecided, WithFailure,
};
use crate::state::GraphState;
use crate::step::IntoStep;

// For an unsatisfied bound rustc lists the impls of the outermost trait, unless they are for all types.
macro_rules! bounds {
    ($($(#[doc = $doc:literal])+ $name:ident <$($param:ident),+>: $inner:ident;)*) => {$(
        $(#[doc = $doc])+
        pub trait $name<$($param),+> {}

        #[doc = concat!("The signatures that [`", stringify!($name), "`] accepts.")]
        pub trait $inner<$($param),+> {}

        impl<$($param,)+ G: $inner<$($param),+>> $name<$($param),+> for G {}
    )*};
}

bounds! {
    /// A node whose parameters a graph over `S` with context `D` can provide.
    Reads<S, D>: Readable;

    /// A node whose result a graph over `S` can apply.
    Returns<S>: Returning;

    /// A node that an edge can lead to: it takes no packet.
    WithoutPacket<S>: NoPacketOf;

    /// An error handler whose parameters a graph over `S` with context `D` can provide.
    HandlerReads<S, D>: HandlerReadable;
}

impl<S, D, Args: ArgsOf<S, D> + ReadsPacket<Packet: InNode>, Out> Readable<S, D> for Signature<Args, Out> {}

impl<S, D, Args: ArgsOf<S, D> + ReadsPacket, Out> HandlerReadable<S, D> for Signature<Args, Out> {}

impl<S: GraphState, Args, Out: IntoStep<S>> Returning<S> for Signature<Args, Out> {}

impl<S, Args: ReadsPacket<Packet: OnEdge<S>>, Out> NoPacketOf<S> for Signature<Args, Out> {}

// START, END and tuples have no parameters to check here.
macro_rules! no_node {
    ($([$($generics:ident)?] $signature:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<S, D, $($generics)?> Readable<S, D> for $signature {}

        #[diagnostic::do_not_recommend]
        impl<S, D, $($generics)?> HandlerReadable<S, D> for $signature {}

        #[diagnostic::do_not_recommend]
        impl<S, $($generics)?> Returning<S> for $signature {}

        #[diagnostic::do_not_recommend]
        impl<S, $($generics)?> NoPacketOf<S> for $signature {}
    )*};
}

no_node! {
    [] StartSignature;
    [] EndSignature;
    [T] Several<T>;
}

/// The packet of a node that an edge leads to: none.
pub trait OnEdge<S> {}

#[diagnostic::do_not_recommend]
impl<S> OnEdge<S> for NoPacket {}

/// An error handler used as a node should be reported once: for reading a failure.
#[diagnostic::do_not_recommend]
impl<S, P> OnEdge<S> for WithFailure<P> {}

impl<S, T: OnlyByRoute<S>> OnEdge<S> for Carries<T> {}

macro_rules! undecided {
    ($($number:literal)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<S> OnEdge<S> for Undecided<$number> {}
    )*};
}

undecided! { 0 1 2 3 4 5 6 7 8 9 }

/// Never implemented. It produces rustc's message about a packet after an edge.
///
/// Packets have this supertrait too, so that a type that is no packet gets one error and not two.
#[diagnostic::on_unimplemented(
    message = "a node that an edge leads to cannot read `{Self}`",
    label = "`{Self}` is neither the state `{S}` nor a view of it",
    note = "if `{Self}` is a packet, send it by a route with a variant `#[to(node)] Name({Self})`; if it is the application context, take `&ContextWith<{Self}>`",
    note = "a method is not a node, because its `self` is a parameter too"
)]
pub trait OnlyByRoute<S>: DeserializeOwned {}
