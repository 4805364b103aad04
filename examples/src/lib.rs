//! The parts of `ask` outside its graph: reading a folder, searching it, and quoting the results.
//!
//! This crate does not use graphs. The graph of `ask` is in `src/bin/ask/`. Each numbered program next to it shows one feature of
//! superstep.

pub mod corpus;
pub mod words;

pub mod index;
pub mod query;
pub mod question;

pub mod grade;
pub mod rewrite;
mod spelling;

pub mod answer;
pub mod quote;
mod sentence;

pub mod chat;

mod error;

pub use error::Error;

/// Compiles and runs the examples of the README and of the guides to state machines and workflows.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
#[doc = include_str!("../../docs/how-to/state-machines.md")]
#[doc = include_str!("../../docs/how-to/workflows.md")]
struct Readme;

/// So are those of the tutorial and the guides.
#[cfg(doctest)]
mod guides;
