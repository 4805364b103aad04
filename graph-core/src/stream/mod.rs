//! Streaming: the events of a run while it runs.
//!
//! A caller chooses [modes](crate::StreamMode) and receives an [`Event`](crate::Event) of some [kind](crate::EventKind) for each
//! thing that happens. These three types are at the root of the crate.

mod custom;
pub(crate) mod event;
pub(crate) mod events;
pub(crate) mod mode;
mod position;
pub(crate) mod queue;
mod raw;
mod shown;
mod subgraph;
mod typed;

pub use crate::run::run_stream::RunStream;
pub use custom::Custom;
pub(crate) use events::{Events, NodeEvent, Sink, TaskEnd};
pub(crate) use position::{ReachedCheckpoint, RunPosition};
pub(crate) use raw::{AnnouncedCheckpoint, TaskEvent};
pub use subgraph::SubgraphEvent;
