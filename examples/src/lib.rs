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

#[cfg(doctest)]
mod book;
