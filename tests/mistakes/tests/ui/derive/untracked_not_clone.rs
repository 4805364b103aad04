//! An untracked field whose type is not `Clone`.

use std::sync::Mutex;

use superstep::GraphState;

#[derive(GraphState, Clone)]
struct Ticket {
    question: String,
    #[state(untracked)]
    connection: Connection,
}

#[derive(Default)]
struct Connection(Mutex<u32>);

fn main() {}
