//! What the library promises, through its public interface: a module for each promise.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the functions that tests share fail a test as the tests themselves do"
)]

mod derive_basics;
mod flattened_names;
mod input_json;
mod reducer_laws;
mod routes;
mod setters;
mod update_json;
mod validation;
mod views;
