//! Nodes: their parameters, results, names and identities.

mod call;
mod decide;
mod destination;
pub(crate) mod error;
mod error_name;
pub(crate) mod identity;
mod key;
mod library;
pub(crate) mod object;
mod packet;
mod param;
pub(crate) mod parent_command;
pub(crate) mod route;
mod shape;
mod step;
pub(crate) mod stored_update;
mod unsized_packet;
mod view;

pub use call::{ArgsOf, CallWith, Calls, ErasedNode, Runs};
pub(crate) use call::{MarkedFuture, PacketMissing, StepFuture};
pub(crate) use decide::Decider;
pub use decide::{Decide, DecideWith, Decides, Decision};
pub use destination::{Anywhere, Destination, IsPacketOf, NoPayload, Reached, Sent, Unreadable, Unsent};
pub use error::Failure;
pub(crate) use error::NodeError;
pub(crate) use identity::own_name;
pub use identity::{End, Named, NodeRef, Start};
pub(crate) use key::KeyFn;
pub use key::{CacheKey, KeyBy, KeyFor, KeyReads, KeyReturns, KeySignature, KeyWith, RunsKey};
pub use library::{ArgsFor, IsLibraryNode, LibraryNode, NodeFor};
pub use object::{IsNode, IsPacketNode, NodeArgs, PacketNodeArgs};
pub(crate) use packet::ReadPacket;
pub use packet::{Packet, PacketType, Payload};
pub use param::*;
pub use parent_command::{ErasedParentCommand, ParentCommandType};
pub(crate) use route::Route;
pub use route::{Choice, Exit, IntoLeave, Leave};
pub use shape::{
    Body, EndSignature, InNode, IsNamed, OrPacket, PacketKind, ReadsPacket, Several, Shape, Signature,
    StartSignature,
};
pub use step::{IntoStep, Step};
pub use unsized_packet::{Items, Text};
pub use view::{View, ViewIn, Viewed};
