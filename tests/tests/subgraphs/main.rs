//! Subgraphs: their state, checkpoints, interrupts, retries, streams and commands to the parent graph.
#![expect(
    clippy::unwrap_used,
    reason = "the functions that tests share fail a test as the tests themselves do"
)]

mod breakpoints;
mod checkpoints;
mod continued_calls;
mod failures;
mod handed_over;
mod interrupts;
mod kept_state;
mod mapped;
mod messages;
mod migrations;
mod parent_commands;
mod pictures;
mod shared_state;
mod sleeping;
mod streams;
mod subgraph_handlers;
mod updates;

use tests::{stores, story};
