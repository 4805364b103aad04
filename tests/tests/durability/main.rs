//! The durability of threads: killed processes, failing stores, dropped and stopped runs, and competing writers.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the functions that tests share fail a test as the tests themselves do"
)]

mod all_features;
mod awaited_batches;
mod breakpoints;
mod crashes;
mod damaged_data;
mod dropped_runs;
mod edited;
mod failing_stores;
mod instrumented_store;
mod interrupts;
mod job;
mod journal;
mod killed;
mod killed_roll_backs;
mod killed_subgraphs;
mod killed_waiting;
mod killed_workflows;
mod next_turn;
mod policies;
mod prefixes;
mod processes;
mod replayed_calls;
mod requests;
mod retried_calls;
mod revoked_results;
mod stopped_runs;
mod subgraph_breakpoints;
mod subgraph_calls;
mod waiting;
mod writers;
