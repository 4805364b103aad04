//! Agents: models, and the tools that they have called.
#![expect(
    clippy::unwrap_used,
    reason = "the functions that tests share fail a test as the tests themselves do"
)]

mod answers;
mod cut_off;
mod loops;
mod questions;
mod spans;
mod tools;
