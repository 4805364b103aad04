//! Pictures of graphs.
//!
//! [`Graph::picture`](crate::Graph::picture) draws a graph as Mermaid, SVG or Graphviz dot, and
//! [`Thread::picture`](crate::thread::Thread::picture) draws it with the position of a thread.

mod breakpoints;
pub(crate) mod builder;
mod builder_policies;
pub(crate) mod compiled;
mod draft;
mod drawing;
mod handler;
mod kept_state;
mod node_cache;
mod policies;
mod reach;
mod reads;
mod registration;
mod wiring;

pub(crate) use breakpoints::Breakpoints;
pub(crate) use compiled::{Compiled, CompiledNode, ErasedGraph, Graph};
#[doc(hidden)]
pub use draft::Draft;
pub use drawing::{Direction, Mark, Picture};
#[doc(hidden)]
pub use drawing::{Drawn, Inside, Marked};
pub(crate) use handler::Handler;
#[doc(hidden)]
pub use handler::Handles;
#[doc(hidden)]
pub use kept_state::KeptState;
pub(crate) use kept_state::KeptStates;
pub(crate) use node_cache::NodeCache;
pub(crate) use policies::NodePolicy;
#[doc(hidden)]
pub use reads::{HandlerReads, OnEdge, OnlyByRoute, Reads, Returns, WithoutPacket};
#[doc(hidden)]
pub use registration::{Enters, Leaves, Listed, Registers, Runnable};
