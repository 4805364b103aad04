//! Runs: engine, caches, interrupts, policies and spans.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "shared helpers fail a test like the tests themselves"
)]

mod caches;
mod engine;
mod interrupts;
mod messages_sanity;
mod policies;
mod spans;
