//! What `#[derive(Route)]` asks of the paths in `#[to(..)]`.
//!
//! The derive knows no graph, so all of it follows from the shape of the node. Methods instead of functions, because
//! rustc then points at nothing but the path.

use std::marker::PhantomData;
use std::ops::Deref;

use super::identity::{End, NodeRef};
use super::packet::ReadPacket;
use super::param::{Carries, NoPacket};
use super::shape::{Body, EndSignature, PacketKind, ReadsPacket, Shape, Signature};
use super::{PacketType, Payload};

/// A place that a route may lead to: a node or END.
#[diagnostic::on_unimplemented(
    message = "a route cannot lead to this",
    label = "is neither a node nor END",
    note = "START is where a run begins, nothing leads there"
)]
pub trait Destination<B> {
    /// What the place reads.
    type Reads;

    /// Which node it is.
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

/// The payload of a node that needs none.
#[diagnostic::on_unimplemented(
    message = "this node takes the packet `{Self}`: give the variant that payload",
    label = "takes the packet `{Self}`",
    note = "a variant with a payload: `#[to(node)] Name({Self})`"
)]
pub trait NoPayload {}

#[diagnostic::do_not_recommend]
impl NoPayload for NoPacket {}

/// The packet of a node that takes a `P`.
#[diagnostic::on_unimplemented(
    message = "this node does not take a packet `{P}`",
    label = "does not take the packet `{P}`",
    note = "a node takes a packet as a parameter `&{P}`"
)]
pub trait IsPacketOf<P> {}

#[diagnostic::do_not_recommend]
impl<P> IsPacketOf<P> for Carries<P> {}

/// Where a variant without a payload leads.
#[derive(Debug)]
pub struct Unsent;

impl Unsent {
    /// To this place.
    pub fn to<N, M>(&self, node: N) -> Reached<ReadsOf<N, M>>
    where
        N: Shape<M>,
        N::Signature: Destination<N::Body>,
    {
        Reached::new(<N::Signature as Destination<N::Body>>::node(node.into_body()))
    }
}

/// Where a variant with the payload `P` leads.
pub struct Sent<P>(PhantomData<fn(P)>, Anywhere);

impl<P> Sent<P> {
    /// For one destination.
    #[expect(clippy::new_without_default, reason = "only generated code makes one")]
    pub fn new() -> Self {
        Self(PhantomData, Anywhere)
    }
}

impl<P: Payload> Sent<P> {
    /// To this place.
    pub fn to<N, M>(&self, node: N) -> Reached<ReadsOf<N, M>>
    where
        N: Shape<M>,
        N::Signature: Destination<N::Body>,
    {
        Unsent.to(node)
    }

    /// How such a payload is read back.
    pub fn reader(&self) -> Option<ReadPacket> {
        Some(PacketType::reader::<P>())
    }
}

type ReadsOf<N, M> = <<N as Shape<M>>::Signature as Destination<<N as Shape<M>>::Body>>::Reads;

/// A place that reads `R`.
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
    /// Which place it is, if it takes no packet.
    pub fn unsent(&self) -> NodeRef
    where
        <R::Packet as PacketKind>::Payload: NoPayload,
    {
        self.node.clone()
    }

    /// Which place it is, if it takes the packet `P`.
    pub fn sent<P>(&self) -> NodeRef
    where
        R::Packet: IsPacketOf<P>,
    {
        self.node.clone()
    }
}

// What follows is found behind the types above when their conditions do not hold: one mistake is said once.

/// A payload that cannot be sent leads anywhere: that it cannot has been said at its type.
#[derive(Debug)]
pub struct Anywhere;

impl Anywhere {
    /// To this place.
    pub fn to<N>(&self, _: N) -> Self {
        Self
    }

    /// No place at all.
    pub fn sent<P>(&self) -> NodeRef {
        NodeRef::End
    }

    /// Nothing is read back.
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

/// A node with a parameter that no graph can provide: which packet it takes is beside the point.
pub struct Unreadable<R>(PhantomData<fn(R)>);

impl<R> Unreadable<R> {
    /// Says what cannot be read.
    pub fn unsent(&self) -> NodeRef
    where
        R: ReadsPacket,
    {
        NodeRef::End
    }

    /// Says what cannot be read.
    pub fn sent<P>(&self) -> NodeRef
    where
        R: ReadsPacket,
    {
        NodeRef::End
    }
}

impl<R> Deref for Reached<R> {
    type Target = Unreadable<R>;

    fn deref(&self) -> &Unreadable<R> {
        &self.unreadable
    }
}
