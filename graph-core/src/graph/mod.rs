//! The structure of graphs, as data and in pictures.
//!
//! [`Graph::shape`](crate::Graph::shape) returns the nodes of a graph and the ways between them.
//! [`Graph::picture`](crate::Graph::picture) draws them as Mermaid, SVG or Graphviz dot, and
//! [`Thread::picture`](crate::thread::Thread::picture) draws them with the position of a thread.

pub(crate) mod builder;
mod builder_policies;
mod caches;
mod check_policies;
mod check_state;
mod compile_first;
mod concurrent_writes;
mod draft;
mod draft_handler;
mod ends;
#[expect(clippy::module_inception, reason = "a type lives in the file of its name")]
pub(crate) mod graph;
mod handler;
mod kept_states;
mod no_end;
mod node_writes;
mod not_a_node;
mod other_names;
pub(crate) mod picture;
mod policies;
mod reach;
mod reads;
mod registers;
mod registration;
mod shape;
#[doc(hidden)]
pub mod text;
mod unknown_destination;
mod wiring;

pub use crate::drawing::{Direction, Mark};
#[doc(hidden)]
pub use crate::engine::KeptState;
#[doc(hidden)]
pub use crate::graph::picture::Drawn;
pub use crate::graph::picture::Picture;
#[doc(hidden)]
pub use compile_first::CompileFirst;
#[doc(hidden)]
pub use draft::Draft;
#[doc(hidden)]
pub use ends::{EdgeSource, EdgeTarget, ErrorHandler, JoinSources, OneNode};
pub(crate) use graph::Graph;
pub use handler::Handles;

#[doc(hidden)]
pub use no_end::{
    LeadToANode, LeaveAnotherNode, Nodes, SingleNodeOnly, WriteAHandler, WriteATuple, WriteOneNode,
};
#[doc(hidden)]
pub use not_a_node::{AsNodeFirst, BlockingFunction, BlockingResult, ReturnsValue, WholeGraph, WriteAsync};
#[doc(hidden)]
pub use other_names::{AddConditionalEdges, AddNode, GetState, Invoke, SetEntryPoint, SetFinishPoint};
#[doc(hidden)]
pub use reads::{
    HandlerReadable, HandlerReads, NoPacketOf, OnEdge, OnlyByRoute, Readable, Reads, Returning, Returns,
    WithoutPacket,
};
#[doc(hidden)]
pub use registers::{Enters, Leaves, Listed, Registers, Runnable};
pub use shape::{EdgeShape, GraphShape, JoinShape, NodeShape};
