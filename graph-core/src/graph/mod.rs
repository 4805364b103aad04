//! The traits that decide which values can be nodes, edge ends and handlers. [`StateGraph`](crate::StateGraph) requires
//! them.

mod breakpoints;
pub(crate) mod builder;
mod builder_policies;
pub(crate) mod compiled;
mod draft;
mod drawing;
mod handler;
mod node_cache;
mod policies;
mod reach;
mod reads;
mod registration;
mod wiring;

pub(crate) use breakpoints::Breakpoints;
pub(crate) use compiled::{Compiled, CompiledNode, Graph};
pub use draft::Draft;
pub use drawing::{Direction, Drawn, Inside, Mark, Marked, Picture};
pub(crate) use handler::Handler;
pub use handler::Handles;
pub(crate) use node_cache::NodeCache;
pub(crate) use policies::NodePolicy;
pub use reads::{HandlerReads, OnEdge, OnlyByRoute, Reads, Returns, WithoutPacket};
pub use registration::{Enters, Leaves, Listed, Registers, Runnable};
