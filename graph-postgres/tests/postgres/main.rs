//! The stores on a server: `PG_URL` names it. Each test has a schema of its own, which it drops.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "the functions that tests share fail a test as the tests themselves do"
)]

mod conformance;
mod crashes;
mod encrypted;
mod faults;
mod log;
mod pooler;
mod private_server;
mod reused;
mod server;
mod settings;
#[cfg(feature = "rustls")]
mod tls;
