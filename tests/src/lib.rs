//! Shared parts of the test programs.
#![expect(clippy::unwrap_used, reason = "shared parts fail a test as the tests themselves do")]

pub mod endpoint;
pub mod fuzz;
pub mod postgres;
pub mod spans;
pub mod stores;
pub mod story;
