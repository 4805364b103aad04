//! Tracing spans: one for a run, one for each superstep, one for each attempt of a node.
//!
//! No span contains a value of the state, a question or an error message, because all of them may contain excluded
//! values.
//! Each run checks once, at its beginning, for a subscriber. Without the feature `tracing` this module compiles to
//! nothing.

mod about;
mod attempt_end;
#[cfg(not(feature = "tracing"))]
mod off;
#[cfg(feature = "tracing")]
mod on;

pub use about::About;
pub(crate) use attempt_end::AttemptEnd;
#[cfg(not(feature = "tracing"))]
pub(crate) use off::{NodeSpan, RunSpan};
#[cfg(feature = "tracing")]
pub(crate) use on::{NodeSpan, RunSpan};
