//! Agents: models and their tools.
#![expect(clippy::unwrap_used, reason = "shared helpers fail a test like the tests themselves")]

mod dropped_runs;
mod loops;
mod questions;
mod retries;
mod spans;
mod structured_output;
mod tools;
