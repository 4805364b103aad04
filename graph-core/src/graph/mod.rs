//! Graphs: put together with [`StateGraph`], checked as a whole, then run.

mod builder;
mod compiled;
mod draft;
mod picture;
mod place;
mod reach;
mod reads;
mod wiring;

pub use builder::StateGraph;
pub use compiled::Graph;
pub(crate) use compiled::{Compiled, CompiledNode};
pub use draft::Draft;
pub use place::{Enters, Leaves, Listed, Registers, Runnable};
pub use reads::{OnEdge, OnlyByRoute, Reads, Returns, WithoutPacket};
