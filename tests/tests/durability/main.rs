//! What a thread promises when something goes wrong: processes that are killed, stores that fail, writers that meet.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the functions that tests share fail a test as the tests themselves do"
)]

mod calls;
mod cancelled;
mod failing_stores;
mod gates;
mod instants;
mod job;
mod killed;
mod killed_calls;
mod killed_waiting;
mod killed_workflows;
mod next_turn;
mod policies;
mod prefixes;
mod processes;
mod questions;
mod revoked;
mod stopped;
mod truth;
mod visits;
mod waiting;
mod watched;
mod writers;
