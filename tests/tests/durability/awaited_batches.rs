use superstep::{Durability, END, Graph, GraphState, START, StateGraph};

use crate::prefixes::recording_store;

#[derive(GraphState, Clone)]
struct Count {
    total: u32,
}

async fn one(count: &Count) -> CountUpdate {
    Count::update().total(count.total + 1)
}

async fn two(count: &Count) -> CountUpdate {
    Count::update().total(count.total + 2)
}

fn graph() -> Graph<Count> {
    StateGraph::<Count>::new().edge(START, one).edge(one, two).edge(two, END).compile().unwrap()
}

#[tokio::test]
async fn store_knows_which_batches_a_run_waits_for() {
    for (durability, expected) in [(Durability::Sync, true), (Durability::Async, false)] {
        let (store, batches) = recording_store();
        let graph = graph().with_checkpointer(store);
        graph.thread("t").run(Count::input().total(0)).durability(durability).await.unwrap();
        let batches = batches.lock().unwrap();
        // Every run waits for its first batch.
        assert!(batches.len() > 2 && batches[0].awaited, "{durability:?}: {batches:?}");
        assert!(batches[1..].iter().all(|batch| batch.awaited == expected), "{durability:?}: {batches:?}");
    }
}
