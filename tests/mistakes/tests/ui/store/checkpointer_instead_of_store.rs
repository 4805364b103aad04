//! A checkpointer is passed as the long-term store.

use superstep::checkpoint::MemoryCheckpointer;
use superstep::messages::MessagesState;
use superstep::Graph;

fn attach(graph: Graph<MessagesState>) -> Graph<MessagesState> {
    graph.with_store(MemoryCheckpointer::new())
}

fn main() {}
