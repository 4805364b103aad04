//! Nodes: what they read, what they return, what they are called.

mod error;
mod identity;
mod packet;
mod param;
mod route;
mod step;

pub use error::{NodeError, Result};
pub(crate) use identity::own_name;
pub use identity::{END, End, Named, NodeRef, START, Start, named};
pub use packet::{Packet, PacketType, Payload};
pub use param::*;
pub use route::{Choice, Exit, IntoLeave, Leave, Route};
pub use step::{IntoStep, Step};
