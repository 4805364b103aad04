//! Typed state machines: nodes with data, return types that are edges, an output.
#![expect(
    clippy::unwrap_used,
    reason = "the functions that tests share fail a test as the tests themselves do"
)]

mod by_hand;
mod fives;
mod killed;
mod machines;
mod pictures;
mod questions;
mod shop;
mod threads;
