//! The server with clients that vanish, long threads, full disks and malformed HTTP.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the functions that tests share fail a test as the tests themselves do"
)]

mod connection;
mod graphs;
mod served;

mod full_disk;
mod long_history;
mod malformed;
mod vanishing;
