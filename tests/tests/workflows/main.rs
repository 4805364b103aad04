//! Workflows: one async function as a graph.
#![expect(
    clippy::unwrap_used,
    reason = "the functions that tests share fail a test as the tests themselves do"
)]

mod as_a_graph;
mod dropped_runs;
mod function;
mod previous;
mod steps;
mod stored_values;

use tests::stores;
