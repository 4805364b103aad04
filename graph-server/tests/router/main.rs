//! The server over its routes, without a socket.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the functions that tests share fail a test as the tests themselves do"
)]

mod client;
#[path = "../described/mod.rs"]
mod described;
mod graphs;
mod thread_client;

mod a2a;
mod a2a_lists;
mod batches;
mod cancel;
mod contexts;
mod delayed;
mod growth;
mod hostile;
mod interrupts;
mod isolation;
mod limits;
mod mcp;
mod multitask;
mod refused;
mod replay_growth;
mod runs;
mod shutdown;
mod state;
mod streams;
mod subgraphs;
mod thread_commands;
mod thread_events;
mod thread_joins;
mod thread_socket;
