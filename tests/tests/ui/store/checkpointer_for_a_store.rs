//! A store of checkpoints, where a long-term store is asked for.

use superstep::checkpoint::MemoryCheckpointer;
use superstep::messages::MessagesState;
use superstep::Graph;

fn attach(graph: Graph<MessagesState>) -> Graph<MessagesState> {
    graph.with_store(MemoryCheckpointer::new())
}

fn main() {}
