//! The checks of `#[derive(Route)]` on the paths in `#[to(..)]`.
//!
//! The derive knows no graph, so every check follows from the shape of the node. They are methods and not functions,
//! because rustc then underlines only the path.

use std::marker::PhantomData;
use std::ops::Deref;

use crate::erased::{PacketType, Payload, ReadPacket};
use crate::step::{End, ExitTarget, NodeRef};

use super::function::Signature;
use super::param::{Carries, NoPacket};
use super::reads_packet::{PacketKind, ReadsPacket};
use super::shape::{Body, EndSignature, Shape};

/// A destination of a route: a node or END.
#[diagnostic::on_unimplemented(
    message = "a route cannot lead to this",
    label = "neither a node nor END",
    note = "START is the beginning of a run; no route leads to it"
)]
pub trait Destination<B> {
    /// The parameters of the node.
    type Reads;

    /// Returns the identity of the node.
    fn node(body: B) -> NodeRef;
}

#[diagnostic::do_not_recommend]
impl<F, Args, Out> Destination<Body<F>> for Signature<Args, Out> {
    type Reads = Args;

    fn node(body: Body<F>) -> NodeRef {
        body.node
    }
}

#[diagnostic::do_not_recommend]
impl Destination<End> for EndSignature {
    type Reads = ();

    fn node(_: End) -> NodeRef {
        NodeRef::End
    }
}

/// The payload type of a node without a packet.
#[diagnostic::on_unimplemented(
    message = "this node takes the packet `{Self}`: give the variant that payload",
    label = "takes the packet `{Self}`",
    note = "write the variant with a payload: `#[to(node)] Name({Self})`"
)]
pub trait NoPayload {}

#[diagnostic::do_not_recommend]
impl NoPayload for NoPacket {}

/// The packet of a node that takes a payload `P`.
#[diagnostic::on_unimplemented(
    message = "this node does not take a packet `{P}`",
    label = "does not take the packet `{P}`",
    note = "a node takes a packet as a parameter `&{P}`"
)]
pub trait IsPacketOf<P> {}

#[diagnostic::do_not_recommend]
impl<P> IsPacketOf<P> for Carries<P> {}

/// The start of a destination check for a variant without a payload.
#[derive(Debug)]
pub struct Unsent;

impl Unsent {
    /// Checks this destination.
    pub fn to<N, M>(&self, node: N) -> Reached<ReadsOf<N, M>>
    where
        N: Shape<M>,
        N::Signature: Destination<N::Body>,
    {
        Reached::new(<N::Signature as Destination<N::Body>>::node(node.into_body()))
    }
}

/// The start of a destination check for a variant with the payload `P`.
pub struct Sent<P>(PhantomData<fn(P)>, Anywhere);

impl<P> Sent<P> {
    /// Creates the check of one destination.
    #[expect(clippy::new_without_default, reason = "only generated code makes one")]
    pub fn new() -> Self {
        Self(PhantomData, Anywhere)
    }
}

impl<P: Payload> Sent<P> {
    /// Checks this destination.
    pub fn to<N, M>(&self, node: N) -> Reached<ReadsOf<N, M>>
    where
        N: Shape<M>,
        N::Signature: Destination<N::Body>,
    {
        Unsent.to(node)
    }

    /// Returns the function that reads such a payload back.
    pub fn reader(&self) -> Option<ReadPacket> {
        Some(PacketType::reader::<P>())
    }
}

type ReadsOf<N, M> = <<N as Shape<M>>::Signature as Destination<<N as Shape<M>>::Body>>::Reads;

/// A destination with the parameters `R`.
pub struct Reached<R> {
    node: NodeRef,
    unreadable: Unreadable<R>,
}

impl<R> Reached<R> {
    fn new(node: NodeRef) -> Self {
        Self { node, unreadable: Unreadable(PhantomData) }
    }
}

impl<R: ReadsPacket> Reached<R> {
    /// Returns the destination, which takes no packet.
    pub fn unsent(&self) -> ExitTarget
    where
        <R::Packet as PacketKind>::Payload: NoPayload,
    {
        self.target()
    }

    /// Returns the destination, which takes the packet `P`.
    pub fn sent<P>(&self) -> ExitTarget
    where
        R::Packet: IsPacketOf<P>,
    {
        self.target()
    }

    fn target(&self) -> ExitTarget {
        ExitTarget { node: self.node.clone(), states: Some(R::states) }
    }
}

// The types above deref to the types below. rustc finds the methods here if the conditions above do not hold, so that
// each mistake is reported once.

/// The check for a payload that cannot be sent. It accepts every destination: the error is already at the payload type.
#[derive(Debug)]
pub struct Anywhere;

impl Anywhere {
    /// Accepts this destination.
    pub fn to<N>(&self, _: N) -> Self {
        Self
    }

    /// Returns a placeholder.
    pub fn sent<P>(&self) -> ExitTarget {
        NodeRef::End.into()
    }

    /// Returns `None`: nothing is read back.
    pub fn reader(&self) -> Option<ReadPacket> {
        None
    }
}

impl<P> Deref for Sent<P> {
    type Target = Anywhere;

    fn deref(&self) -> &Anywhere {
        &self.1
    }
}

/// A node with a parameter that no graph can provide. Its packet is not checked.
pub struct Unreadable<R>(PhantomData<fn(R)>);

impl<R> Unreadable<R> {
    /// Reports the parameter that cannot be read.
    pub fn unsent(&self) -> ExitTarget
    where
        R: ReadsPacket,
    {
        NodeRef::End.into()
    }

    /// Reports the parameter that cannot be read.
    pub fn sent<P>(&self) -> ExitTarget
    where
        R: ReadsPacket,
    {
        NodeRef::End.into()
    }
}

impl<R> Deref for Reached<R> {
    type Target = Unreadable<R>;

    fn deref(&self) -> &Unreadable<R> {
        &self.unreadable
    }
}
