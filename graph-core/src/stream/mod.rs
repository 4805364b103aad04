//! What happens in a run, as it happens.

mod custom;
pub(crate) mod event;
mod events;
mod run_stream;
mod subgraph;

pub use custom::Custom;
pub(crate) use event::{Event, EventKind, StreamMode};
pub(crate) use events::{Events, Sent, Sink};
pub use run_stream::RunStream;
pub use subgraph::SubgraphEvent;
