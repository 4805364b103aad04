//! What a run promises: supersteps, and questions on the way.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the functions that tests share fail a test as the tests themselves do"
)]

mod caches;
mod engine;
mod interrupts;
mod messages_sanity;
mod policies;
mod spans;
