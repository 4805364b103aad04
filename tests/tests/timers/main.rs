//! Questions combined with timers and steps: nothing that was accepted is lost, and every attempt takes the same way.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "the functions that tests share fail a test as the tests themselves do"
)]

mod claim;
mod expiring;
mod order;
mod reminders;
mod steps;
mod subgraphs;
mod untaken;
