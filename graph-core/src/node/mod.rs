//! Nodes: their parameters, results, names and identities.
//!
//! A node is an `async fn` in almost all cases, and needs no name from this module. The crate documentation lists the
//! [parameters and results](crate#nodes) of nodes. This module has the types for the other cases:
//!
//! - [`LibraryNode`] is a struct that is a node of graphs over many states.
//! - [`Packet`] and [`Payload`] are the values that a route sends to a node.
//! - [`Step`] is the result of any node, for structs that wrap other nodes.
//! - [`Failure`] is the error of a node.
//!
//! The methods of [`StateGraph`](crate::StateGraph) also have bounds on hidden traits, such as `Shape` and `Reads`. The
//! compiler infers them from the signature of a function. They are not part of the public interface.

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

#[doc(hidden)]
pub use call::{ArgsOf, CallWith, Calls, ErasedNode, Runs, SubgraphNode};
pub(crate) use call::{MarkedFuture, PacketMissing, StepFuture};
pub(crate) use decide::Decider;
#[doc(hidden)]
pub use decide::{Decide, DecideWith, Decides, Decision};
#[doc(hidden)]
pub use destination::{Anywhere, Destination, IsPacketOf, NoPayload, Reached, Sent, Unreadable, Unsent};
pub use error::Failure;
pub(crate) use error::NodeError;
#[doc(hidden)]
pub use identity::NodeRef;
pub(crate) use identity::own_name;
pub use identity::{End, Named, Start};
pub(crate) use key::KeyFn;
#[doc(hidden)]
pub use key::{CacheKey, KeyBy, KeyFor, KeyReads, KeyReturns, KeySignature, KeyWith, RunsKey};
#[doc(hidden)]
pub use library::{ArgsFor, IsLibraryNode};
pub use library::{LibraryNode, NodeFor};
#[doc(hidden)]
pub use object::{IsNode, IsPacketNode, NodeArgs, PacketNodeArgs};
#[doc(hidden)]
pub use packet::PacketType;
pub(crate) use packet::ReadPacket;
pub use packet::{Packet, Payload};
#[doc(hidden)]
pub use param::*;
#[doc(hidden)]
pub use parent_command::{ErasedParentCommand, ParentCommandType};
pub(crate) use route::Route;
#[doc(hidden)]
pub use route::{Choice, Exit, IntoLeave, Leave};
#[doc(hidden)]
pub use shape::{
    Body, EndSignature, InNode, IsNamed, OrPacket, PacketKind, ReadsPacket, Several, Shape, Signature,
    StartSignature,
};
#[doc(hidden)]
pub use step::ErasedStep;
pub use step::{IntoStep, Step};
#[doc(hidden)]
pub use unsized_packet::{Items, Text};
pub use view::View;
#[doc(hidden)]
pub use view::{ViewIn, Viewed};
