//! Typed state graphs: async functions over a plain struct, run in supersteps.

mod engine;
pub mod error;
pub mod graph;
pub mod node;
mod plan;
pub mod reducers;
pub mod run;
pub mod state;
pub mod stream;

#[doc(hidden)]
pub mod __private;

pub use engine::{Ctx, Cx, DEFAULT_RECURSION_LIMIT, FailureMode, Metadata};
pub use error::{Error, ErrorKind};
pub use graph::{Graph, StateGraph};
pub use node::{END, Node, NodeError, PacketNode, Result, Route, START, named};
pub use run::Outcome;
pub use state::{Field, GraphState, Overwrite};
pub use state_derive::{GraphState, Route, StateView};
pub use stream::{Event, EventKind, StreamMode};

/// What a panic said.
pub(crate) fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    if let Some(text) = panic.downcast_ref::<&str>() {
        text
    } else if let Some(text) = panic.downcast_ref::<String>() {
        text
    } else {
        "(no message)"
    }
}
