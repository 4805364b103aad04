//! The long-term store: what is typed about it, and how nodes reach it.

mod batches;
mod clock;
mod lifetimes;
mod meaning;
mod nodes;
mod values;
