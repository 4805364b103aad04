//! Threads, assistants and items over HTTP, as the protocol describes them.
#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the functions that tests share fail a test as the tests themselves do"
)]

#[path = "../described/mod.rs"]
mod described;
mod example;
mod support;

mod assistants;
mod crons;
mod document;
mod meta;
mod serving;
mod store;
mod threads;
