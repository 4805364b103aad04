//! Panics of the application's code: no call of the library unwinds, hangs, or loses an accepted write.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "shared helpers fail a test like the tests themselves"
)]

mod error_texts;
mod every_call;
mod faults;
mod trapped_store;
mod trip;
