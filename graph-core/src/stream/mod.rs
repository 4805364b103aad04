//! What happens in a run, as it happens.
//!
//! A listener asks for some [modes](crate::StreamMode), and gets an [`Event`](crate::Event) of a [kind](crate::EventKind) for
//! whatever happens. These three stand at the root of the crate.

mod custom;
pub(crate) mod event;
mod events;
mod run_stream;
mod subgraph;

pub use custom::Custom;
pub(crate) use events::{Events, Sent, Sink};
pub use run_stream::RunStream;
pub use subgraph::SubgraphEvent;
