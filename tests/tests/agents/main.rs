//! Agents: models, and the tools that they have called.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the functions that tests share fail a test as the tests themselves do"
)]

mod answers;
mod loops;
mod questions;
mod tools;
