//! What a derived state promises, and the graph as it is put together: a module for each promise.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the functions that tests share fail a test as the tests themselves do"
)]

mod allocations;
mod by_itself;
mod derive_attributes;
mod derive_basics;
mod derive_flatten;
mod derive_generics;
mod derive_names;
mod derive_reducers;
mod derive_schema;
mod flattened_names;
mod input_json;
mod messages;
mod names;
mod parts_of_another_crate;
mod reducer_laws;
mod routes;
mod routes_in_a_graph;
mod secrets;
mod setters;
mod stored;
mod update_json;
mod validation;
mod views;
