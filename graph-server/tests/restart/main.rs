//! The server over a socket: clients that disconnect, and servers that are killed and started again.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the functions that tests share fail a test as the tests themselves do"
)]

mod child;
mod http;

mod crons;
mod killed;
mod rejoined;
mod sockets;
#[cfg(feature = "webhooks")]
mod webhooks;
