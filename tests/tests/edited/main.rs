//! Threads that a person edits: added nodes, updates by name, kept plans, roll back, and calls without types.
#![expect(
    clippy::unwrap_used,
    reason = "the functions that tests share fail a test as the tests themselves do"
)]

mod dropped_roll_backs;
mod gotos;
mod kept_calls;
mod kept_plans;
mod late_answers;
mod limited_histories;
mod listed_calls;
mod named_routes;
mod pruned_calls;
mod random_edits;
mod roll_backs;
mod updated_calls;
