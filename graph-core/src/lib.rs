//! Typed state graphs: async functions over a plain struct, run in supersteps.

mod engine;
mod node;
pub mod reducers;
pub mod state;

#[doc(hidden)]
pub mod __private;

pub use engine::{Ctx, Cx};
pub use node::{END, NodeError, Result, Route, START, named};
pub use state::{Field, GraphState, Overwrite};
pub use state_derive::{GraphState, Route, StateView};

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
