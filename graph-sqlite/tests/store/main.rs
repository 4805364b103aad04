//! Tests of the store through its public API; one module per promise.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the functions that tests share fail a test as the tests themselves do"
)]

mod awaited;
mod closing;
mod concurrency;
mod cost;
mod damage;
mod fixture;
mod golden;
mod history;
mod limits;
mod long_term;
mod model;
mod opening;
mod processes;
mod pruning;
mod results;
mod rolling_back;
