//! What `tracing` is told of a run: a span for it, one for each superstep, one for each attempt of a node.
//!
//! No span says a value of the state, what a question asks or what an error says: all of them can hold what is excluded.
//! A run asks once, when it begins, whether anybody listens; without the feature `tracing` everything here is nothing.

#[cfg(not(feature = "tracing"))]
mod off;
#[cfg(feature = "tracing")]
mod on;
mod spanned;
mod superstep;

#[cfg(not(feature = "tracing"))]
use off::NodeSpan;
#[cfg(not(feature = "tracing"))]
pub(crate) use off::RunSpan;
#[cfg(feature = "tracing")]
use on::NodeSpan;
#[cfg(feature = "tracing")]
pub(crate) use on::RunSpan;
pub(super) use spanned::{Attempted, Spanned};
