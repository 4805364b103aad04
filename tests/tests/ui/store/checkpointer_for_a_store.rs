//! A store of checkpoints, where a long-term store is asked for.

use graph_core::checkpoint::MemoryCheckpointer;
use graph_core::messages::MessagesState;
use graph_core::Graph;

fn attach(graph: Graph<MessagesState>) -> Graph<MessagesState> {
    graph.with_store(MemoryCheckpointer::new())
}

fn main() {}
