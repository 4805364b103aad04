//! Threads that a person edits: added nodes, updates by name, kept plans, roll back, and calls without types.
#![expect(
    clippy::unwrap_used,
    reason = "the functions that tests share fail a test as the tests themselves do"
)]

mod gotos;
mod kept_calls;
mod kept_plans;
mod listed_calls;
mod named_routes;
mod roll_backs;
