//! Narrow updates, and the graphs that are refused because of the fields they write.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "shared helpers fail a test like the tests themselves"
)]

mod concurrent_writes;
mod forms;
mod places;
mod subgraph_writes;
mod written_text;
