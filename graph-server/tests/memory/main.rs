//! The memory of a server with many clients and with clients that do not read. In a process of its own, which no other test shares.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the functions that tests share fail a test as the tests themselves do"
)]
#![expect(dead_code, reason = "the client, the graphs and the server are those of the other tests")]

#[path = "../endurance/connection.rs"]
mod connection;
#[path = "../endurance/graphs.rs"]
mod graphs;
#[path = "../endurance/served.rs"]
mod served;

mod open_streams;
