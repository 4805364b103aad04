//! Nodes: what they read, what they return, what they are called.

mod call;
mod decide;
mod destination;
mod error;
mod identity;
mod object;
mod packet;
mod param;
mod route;
mod shape;
mod step;
mod view;

pub(crate) use call::StepFuture;
pub use call::{ArgsOf, CallWith, ErasedNode, Runs};
pub(crate) use decide::Decider;
pub use decide::{Decide, DecideWith, Decides, Decision};
pub use destination::{Anywhere, Destination, IsPacketOf, NoPayload, Reached, Sent, Unreadable, Unsent};
pub use error::{Failure, NodeError, Result};
pub(crate) use identity::own_name;
pub use identity::{END, End, Named, NodeRef, START, Start, named};
pub use object::{IsNode, IsPacketNode, Node, NodeArgs, PacketNode, PacketNodeArgs};
pub use packet::{Packet, PacketType, Payload};
pub use param::*;
pub use route::{Choice, Exit, IntoLeave, Leave, Route};
pub use shape::{
    Body, EndSignature, IsNamed, OrPacket, PacketKind, ReadsPacket, Several, Shape, Signature, StartSignature,
};
pub use step::{IntoStep, Step};
pub use view::{View, ViewIn, Viewed};
