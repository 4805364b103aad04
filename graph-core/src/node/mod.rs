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
mod function;
mod key;
mod library;
pub(crate) mod messages;
mod not_a_node;
pub(crate) mod object;
mod param;
mod reads_packet;
mod shape;
mod undecided;
mod unsized_packet;
mod view;

#[doc(hidden)]
pub use crate::engine::{ErasedNode, ErasedSource, SubgraphNode};
#[doc(hidden)]
pub use crate::erased::PacketType;
pub use crate::erased::{Packet, Payload};
pub use crate::error::Failure;
#[doc(hidden)]
pub use crate::step::ErasedStep;
#[doc(hidden)]
pub use crate::step::NodeRef;
#[doc(hidden)]
pub use crate::step::ReadState;
#[doc(hidden)]
pub use crate::step::{Choice, Exit, IntoLeave, Leave};
pub use crate::step::{End, Named, Start};
#[doc(hidden)]
pub use crate::step::{ErasedParentCommand, ParentCommandType};
pub use crate::step::{IntoStep, Step};
#[doc(hidden)]
pub use call::Runs;
#[doc(hidden)]
pub use decide::Decides;
#[doc(hidden)]
pub use destination::{Anywhere, Destination, IsPacketOf, NoPayload, Reached, Sent, Unreadable, Unsent};
pub(crate) use function::PacketMissing;
#[doc(hidden)]
pub use function::{ArgsOf, CallWith, ExtractAll, Fixed, FixedArgs, Signature};
#[doc(hidden)]
pub use key::{CacheKey, KeyFor, KeyReturns};
#[doc(hidden)]
pub use library::{ArgsFor, IsLibraryNode};
pub use library::{LibraryNode, NodeFor};
pub(crate) use not_a_node::instead;
#[doc(hidden)]
pub use not_a_node::*;
#[doc(hidden)]
pub use object::{IsNode, IsPacketNode, NodeArgs, PacketNodeArgs};
#[doc(hidden)]
pub use param::*;
#[doc(hidden)]
pub use reads_packet::{InNode, OrPacket, PacketKind, ReadsPacket};
#[doc(hidden)]
pub use shape::{Body, Decide, EndSignature, IsNamed, KeyBy, Several, Shape, SingleNode, StartSignature};
pub(crate) use undecided::Undecided;
#[doc(hidden)]
pub use unsized_packet::{Items, Text};
pub use view::View;
#[doc(hidden)]
pub use view::{ViewIn, Viewed};
