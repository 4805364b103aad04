//! The long-term store and the cache on a server: their conformance suites, semantic search with and without pgvector, lost
//! connections, and the tables as people see them.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by a panic")]

mod fixture;

mod behaviour;
mod cache;
mod checkpoints;
mod guide;
mod lost_connections;
mod proxy;
mod semantic_search;
mod store;
