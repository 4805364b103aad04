//! Growth: the cost of every public operation grows linearly with its size. `PG_URL` names a server for the store on one.
//!
//! `cargo test -p tests --all-features --test growth -- --nocapture` prints the costs and their ratios.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "the functions that tests share fail a test as the tests themselves do"
)]

mod answers;
mod chain;
mod fan_out;
mod fan_outs;
mod histories;
mod many_threads;
mod measure;
mod server;
mod single_tasks;
mod states;
mod subgraph_calls;
mod threads;
mod wide_graphs;

use tests::stores;

/// Defines a test for each operation, with its places and its size.
macro_rules! growth {
    ($($name:ident: $on:ident, $n:expr => $operation:expr;)+) => {$(
        #[test]
        fn $name() {
            crate::measure::check(stringify!($name), crate::measure::On::$on, $n, $operation);
        }
    )+};
}
use growth;
