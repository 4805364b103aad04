//! The packet that a node reads, derived from its parameters.

use crate::erased::PacketType;

use super::param::{Carries, FixedParam, NoPacket, Param, WithFailure};
use crate::step::ReadState;

/// Parameters, with the type of their packet.
pub trait ReadsPacket {
    /// [`NoPacket`] or [`Carries<T>`](Carries).
    type Packet: PacketKind;

    /// Collects the states that the parameters read, as far as they are known.
    #[doc(hidden)]
    fn states(into: &mut Vec<ReadState>) {
        let _ = into;
    }
}

/// [`NoPacket`] or [`Carries<T>`](Carries).
pub trait PacketKind {
    /// [`NoPacket`] or `T`.
    type Payload;

    /// Returns the packet's type, if there is a packet.
    fn packet_type() -> Option<PacketType>;
}

impl PacketKind for NoPacket {
    type Payload = Self;

    fn packet_type() -> Option<PacketType> {
        None
    }
}

impl<T: 'static> PacketKind for Carries<T> {
    type Payload = T;

    fn packet_type() -> Option<PacketType> {
        Some(PacketType::of::<T>())
    }
}

impl<P: PacketKind> PacketKind for WithFailure<P> {
    type Payload = P::Payload;

    fn packet_type() -> Option<PacketType> {
        P::packet_type()
    }
}

/// The packet of two parameter lists together. Two packets are an error.
#[diagnostic::on_unimplemented(
    message = "a node takes one packet, not two",
    label = "reads two packets",
    note = "put both into one payload"
)]
pub trait OrPacket<Other> {
    /// The packet of the two.
    type Out: PacketKind;
}

impl<Other: PacketKind> OrPacket<Other> for NoPacket {
    type Out = Other;
}

impl<T: 'static> OrPacket<NoPacket> for Carries<T> {
    type Out = Self;
}

#[diagnostic::do_not_recommend]
impl<T: 'static, P> OrPacket<WithFailure<P>> for Carries<T>
where
    Self: OrPacket<P>,
{
    type Out = WithFailure<<Self as OrPacket<P>>::Out>;
}

impl<P: OrPacket<Other>, Other> OrPacket<Other> for WithFailure<P> {
    type Out = WithFailure<P::Out>;
}

/// Parameters of a node, which has no failure to read. Only an error handler has one.
#[diagnostic::on_unimplemented(
    message = "a node cannot read a failure",
    label = "reads a `NodeFailure`, which only an error handler can read",
    note = "use it as the error handler of a node: `.on_error(node, handler)`"
)]
pub trait InNode {}

#[diagnostic::do_not_recommend]
impl InNode for NoPacket {}

#[diagnostic::do_not_recommend]
impl<T> InNode for Carries<T> {}

impl ReadsPacket for () {
    type Packet = NoPacket;
}

type PacketIn<P> = <<P as Param>::Fixed as FixedParam>::Packet;

impl<A: Param<Fixed: FixedParam<Packet: PacketKind>>> ReadsPacket for (A,) {
    type Packet = PacketIn<A>;

    fn states(into: &mut Vec<ReadState>) {
        into.extend(A::Fixed::state());
    }
}

macro_rules! reads_packet {
    ($(($first:ident, $($rest:ident),+))*) => {$(
        impl<$first: Param, $($rest),+> ReadsPacket for ($first, $($rest,)+)
        where
            ($($rest,)+): ReadsPacket,
            PacketIn<$first>: OrPacket<<($($rest,)+) as ReadsPacket>::Packet>,
        {
            type Packet = <PacketIn<$first> as OrPacket<<($($rest,)+) as ReadsPacket>::Packet>>::Out;

            fn states(into: &mut Vec<ReadState>) {
                into.extend($first::Fixed::state());
                <($($rest,)+)>::states(into);
            }
        }
    )*};
}

reads_packet! { (A, B) (A, B, C) (A, B, C, E) }
