//! Tracing spans: one for a run, one for each superstep, one for each attempt of a node.
//!
//! No span contains a value of the state, a question or an error message, because all of them may contain excluded
//! values.
//! Each run checks once, at its beginning, for a subscriber. Without the feature `tracing` this module compiles to
//! nothing.

#[cfg(not(feature = "tracing"))]
mod off;
#[cfg(feature = "tracing")]
mod on;
mod spanned;

#[cfg(not(feature = "tracing"))]
use off::NodeSpan;
#[cfg(not(feature = "tracing"))]
pub(crate) use off::RunSpan;
#[cfg(feature = "tracing")]
use on::NodeSpan;
#[cfg(feature = "tracing")]
pub(crate) use on::RunSpan;
pub(super) use spanned::{Attempted, Spanned};
