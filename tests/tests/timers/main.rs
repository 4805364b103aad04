//! Questions combined with timers and steps: nothing that was accepted is lost, and every attempt takes the same way.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "the functions that tests share fail a test as the tests themselves do"
)]

mod changed_order;
mod claim;
mod expiring;
mod failing_siblings;
mod limits;
mod open_questions;
mod order;
mod reminders;
mod steps;
mod subgraphs;
mod unreadable;
mod untaken;
