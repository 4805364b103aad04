//! The structure of graphs, as data and in pictures.
//!
//! [`Graph::shape`](crate::Graph::shape) returns the nodes of a graph and the ways between them.
//! [`Graph::picture`](crate::Graph::picture) draws them as Mermaid, SVG or Graphviz dot, and
//! [`Thread::picture`](crate::thread::Thread::picture) draws them with the position of a thread.

pub(crate) mod builder;
mod builder_policies;
mod caches;
mod check_policies;
mod compile_first;
mod concurrent_writes;
mod draft;
mod draft_handler;
#[expect(clippy::module_inception, reason = "a type lives in the file of its name")]
pub(crate) mod graph;
mod handler;
mod kept_states;
mod node_writes;
mod not_a_node;
mod other_names;
pub(crate) mod picture;
mod policies;
mod reach;
mod reads;
mod registration;
mod shape;
#[doc(hidden)]
pub mod text;
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
pub(crate) use graph::Graph;
#[doc(hidden)]
pub use handler::Handles;

#[doc(hidden)]
pub use not_a_node::{AsNodeFirst, BlockingFunction, WholeGraph, WriteAsync};
#[doc(hidden)]
pub use other_names::{AddConditionalEdges, AddNode, GetState, Invoke, SetEntryPoint, SetFinishPoint};
#[doc(hidden)]
pub use reads::{HandlerReads, OnEdge, OnlyByRoute, Reads, Returns, WithoutPacket};
#[doc(hidden)]
pub use registration::{Enters, Leaves, Listed, Registers, Runnable};
pub use shape::{EdgeShape, GraphShape, JoinShape, NodeShape};
