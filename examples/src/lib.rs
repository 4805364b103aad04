//! What `ask` is made of, apart from its graph: reading a folder, searching it, and writing down what was found.
//!
//! None of this knows of graphs. The graph itself is in `src/bin/ask/`; the numbered programs beside it show one idea
//! of the library each.

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

/// The examples of the README and of the documents on machines and workflows are compiled, and run, with the tests.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
#[doc = include_str!("../../docs/how-to/state-machines.md")]
#[doc = include_str!("../../docs/how-to/workflows.md")]
struct Readme;
