//! Threads: checkpoints, resuming, interrupts, updates, time travel, the long-term store and golden files.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the functions that tests share fail a test as the tests themselves do"
)]

mod answers;
mod applied_results;
mod backoffs;
mod basics;
mod breakpoints;
mod data_only;
mod dropped_steps;
mod ephemeral;
mod epochs;
mod error_handlers;
mod error_types;
mod event_positions;
mod evolution;
mod first_use;
mod fixed_program;
mod golden;
mod golden_records;
mod golden_time;
mod growth;
mod histories;
mod idempotency_keys;
mod interrupts;
mod joins;
mod large_numbers;
mod left_breakpoints;
mod limits;
mod listed_runs;
mod listing;
mod live;
mod long_term;
mod many_writes;
mod messages;
mod model;
mod names;
mod null_packets;
mod outdated_answers;
mod overwrites;
mod pending_tasks;
mod question_versions;
mod refused_updates;
mod rejected_supersteps;
mod replays;
mod restored_events;
mod results_of_events;
mod resume;
mod resume_options;
mod resumed_state;
mod resumed_updates;
mod run_ids;
mod secrets;
mod sleeping;
mod snapshots;
mod steps;
mod stored_data_versions;
mod thread_lists;
mod time_travel;
mod unfinished;
mod unique_ids;
mod unstorable;
mod updates;
mod waiting;
mod wrong_answers;

use tests::{stores, story};
