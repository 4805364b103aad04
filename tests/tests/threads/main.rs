//! Threads: what is stored, and how it is gone on with.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the functions that tests share fail a test as the tests themselves do"
)]

mod answers;
mod backoffs;
mod basics;
mod breakpoints;
mod data_only;
mod ephemeral;
mod error_handlers;
mod evolution;
mod first_use;
mod going_on;
mod golden;
mod golden_records;
mod golden_time;
mod growth;
mod joins;
mod long_term;
mod mended;
mod messages;
mod model;
mod names;
mod null_packets;
mod patches;
mod questions;
mod refused;
mod replays;
mod resumed_updates;
mod resuming;
mod run_ids;
mod secrets;
mod sleeping;
mod snapshots;
mod stale_answers;
mod steps;
mod time_travel;
mod unfinished;
mod unstorable;
mod updates;
mod waiting;

use tests::{stores, story};
