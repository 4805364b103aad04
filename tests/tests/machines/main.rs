//! Typed state machines.
#![expect(clippy::unwrap_used, reason = "shared helpers fail a test like the tests themselves")]

mod fives;
mod killed;
mod pictures;
mod questions;
mod runs;
mod shop;
mod stepping;
mod threads;
