//! The traits that decide which values can be nodes, edge ends and handlers. [`StateGraph`](crate::StateGraph) requires
//! them.

mod breakpoints;
pub(crate) mod builder;
mod caching;
pub(crate) mod compiled;
mod draft;
mod drawing;
mod governed;
mod handler;
mod place;
mod policies;
mod reach;
mod reads;
mod wiring;

pub(crate) use breakpoints::Breakpoints;
pub(crate) use caching::NodeCache;
pub(crate) use compiled::{Compiled, CompiledNode, Graph};
pub use draft::Draft;
pub use drawing::{Direction, Drawn, Inside, Mark, Marked, Picture};
pub(crate) use handler::Handler;
pub use handler::Handles;
pub use place::{Enters, Leaves, Listed, Registers, Runnable};
pub(crate) use policies::NodePolicy;
pub use reads::{HandlerReads, OnEdge, OnlyByRoute, Reads, Returns, WithoutPacket};
