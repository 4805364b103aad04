//! Errors and their kinds.

mod error_name;
mod kind;
mod kind_texts;
pub(crate) mod node_error;
mod node_failure;
mod panic;
mod unfinished_superstep;
mod wiring;

pub(crate) use crate::contain::error_text as with_causes;
pub use kind::ErrorKind;
pub use node_error::{Failure, NodeError, Result};
pub use node_failure::NodeFailure;
pub(crate) use panic::{Panic, contained};
pub use unfinished_superstep::{AwaitedAnswer, UnfinishedSuperstep};
pub use wiring::WiringProblem;

use std::any::Any;
use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use crate::contain::write_error;

/// An error from building or running a graph.
///
/// [`kind`](Self::kind) returns the variant to match on. `Display` names the graph and the failure; the cause is
/// [`source`](StdError::source) and is not repeated. The error of a failed run also holds the state after the last
/// superstep that was applied: see [`state`](Self::state).
pub struct Error(Box<Inner>);

struct Inner {
    graph: String,
    kind: ErrorKind,
    state: Option<Arc<dyn Any + Send + Sync>>,
}

impl Error {
    pub(crate) fn new(graph: &str, kind: ErrorKind) -> Self {
        Self(Box::new(Inner { graph: graph.to_owned(), kind, state: None }))
    }

    pub(crate) fn with_state(mut self, state: Arc<dyn Any + Send + Sync>) -> Self {
        self.0.state = Some(state);
        self
    }

    pub(crate) fn map_kind(self, map: impl FnOnce(ErrorKind) -> ErrorKind) -> Self {
        let Inner { graph, kind, state } = *self.0;
        Self(Box::new(Inner { graph, kind: map(kind), state }))
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// Returns the name of the graph.
    pub fn graph(&self) -> &str {
        &self.0.graph
    }

    /// Returns the state after the last superstep that was applied, if a run of a graph over `S` failed.
    ///
    /// Returns `None` for a graph that could not be built, for an input that was refused, and if the state has another
    /// type.
    pub fn state<S: 'static>(&self) -> Option<&S> {
        self.0.state.as_deref()?.downcast_ref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "graph `{}`: {}", self.0.graph, self.0.kind)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_error(self, CAUSED_BY, f)?;
        if let ErrorKind::Node { others, .. } = &self.0.kind {
            for other in others {
                f.write_str("\n")?;
                write_error(other, CAUSED_BY, f)?;
            }
        }
        Ok(())
    }
}

/// The separator of an error and its cause in `Debug` output.
pub(crate) const CAUSED_BY: &str = "\n  caused by: ";

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match &self.0.kind {
            // `Display` already contains the failure, so the source is the node's own error.
            ErrorKind::Node { first, .. } => first.source(),
            kind => kind.source(),
        }
    }
}
