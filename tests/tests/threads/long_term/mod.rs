//! The long-term store: typed values, and access from nodes.

mod batches;
mod clock;
mod lifetimes;
mod nodes;
mod semantic_search;
mod values;
