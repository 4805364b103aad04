//! Roll backs of pruned threads with subgraph calls.

use std::sync::Arc;

use superstep::checkpoint::{CheckpointQuery, Prune};
use superstep::subgraph::CallResult;
use superstep::{Durability, END, START};

use tests::stores::on_every_store;
use tests::story::{Probe, Story, begin, recording_nodes, say, story};

recording_nodes! { first second open close third fourth fifth }

#[tokio::test]
async fn call_whose_parent_was_pruned_is_removed() {
    let deep = story().edge(START, second).edge(second, END).compile().unwrap().as_node("deep");
    let deep = deep.mapped(|_: &Story| begin("deep"), |_: CallResult<Story>| say("deep")).per_thread();
    // After the call, the subgraph makes more checkpoints than its parent graph makes in a turn. So pruning drops the one
    // that made the call before it drops those of the turn before.
    let middle = story().edge(START, open).edge(open, &deep).edge(&deep, close).edge(close, third);
    let middle = middle.edge(third, fourth).edge(fourth, fifth).edge(fifth, END).compile().unwrap();
    let middle = middle.as_node("middle");
    let graph = story().edge(START, first).edge(first, &middle).edge(&middle, END).compile().unwrap();
    on_every_store(async |store| {
        for durability in [Durability::Sync, Durability::Async] {
            for to_nothing in [false, true] {
                let probe = Arc::new(Probe::default());
                let thread = store.thread(&graph);
                thread.delete().await.unwrap();
                let turn = || thread.run(begin("in")).durability(durability).context(Arc::clone(&probe));
                let ids = async || {
                    let query = CheckpointQuery::new("t").namespace("middle/deep");
                    let calls = store.open().list(query).await.unwrap().items;
                    calls.iter().map(|call| call.id).collect::<Vec<_>>()
                };
                turn().await.unwrap();
                let first_turn = ids().await;
                let before = thread.state().await.unwrap().unwrap().id;
                turn().await.unwrap();
                let prune = Prune::new().thread("t").keep_last(5);
                graph.with_checkpointer(store.open()).prune(prune).await.unwrap();
                thread.roll_back_to(Some(before).filter(|_| !to_nothing)).await.unwrap();
                let left = ids().await;
                assert!(left.iter().all(|id| !to_nothing && first_turn.contains(id)), "{durability:?}");
            }
        }
    })
    .await;
}
