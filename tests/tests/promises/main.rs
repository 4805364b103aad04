//! Derived states, routes, views and messages: one module for each promise.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "shared helpers fail a test like the tests themselves"
)]

mod allocations;
mod cycles;
mod derive_attributes;
mod derive_basics;
mod derive_flatten;
mod derive_generics;
mod derive_names;
mod derive_reducers;
mod derive_schema;
mod derive_skip_none;
mod excluded_fields;
mod flattened_names;
mod folders;
mod imports;
mod input_json;
mod large_numbers;
mod messages;
mod node_names;
mod node_unit_tests;
mod reducer_laws;
mod routes;
mod routes_in_a_graph;
mod setters;
mod state_mistakes;
mod states_of_other_crates;
mod stored;
mod update_json;
mod validation;
mod views;
