//! Parts of a history with branches equal the same part of the whole history.

use std::sync::Arc;

use superstep::checkpoint::{CheckpointSource, Prune};
use superstep::thread::{Snapshot, as_node, keep_plan};
use superstep::{END, START};

use tests::stores::on_every_store;
use tests::story::{Probe, Story, begin, recording_nodes, say, story};

recording_nodes! { first left right last }

#[tokio::test]
async fn parts_of_a_history_equal_the_whole() {
    let graph = story().edge(START, first).edge(first, (left, right)).join((left, right), last);
    let graph = graph.edge(last, END).compile().unwrap();
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        let thread = store.thread(&graph);
        for _ in 0..2 {
            thread.run(begin("in")).context(Arc::clone(&probe)).await.unwrap();
            let history = thread.history().await.unwrap();
            let at = thread.at(history[history.len() / 2].id);
            at.run_again().context(Arc::clone(&probe)).await.unwrap();
            at.update(say("edited"), as_node(first)).context(Arc::clone(&probe)).await.unwrap();
            thread.update(say("kept"), keep_plan()).context(Arc::clone(&probe)).await.unwrap();
            thread.resume(()).context(Arc::clone(&probe)).await.unwrap();
        }
        for keep in [100, 9] {
            graph.with_checkpointer(store.open()).prune(Prune::new().keep_last(keep)).await.unwrap();
            let json = |all: &[Snapshot<Story>]| -> Vec<serde_json::Value> {
                all.iter().map(|at| serde_json::to_value(at).unwrap()).collect()
            };
            let whole = json(&thread.history().await.unwrap());
            assert!(whole.len() > 8);
            for limit in 0..whole.len() + 2 {
                let part = json(&thread.history().limit(limit).await.unwrap());
                assert_eq!(part, whole[..limit.min(whole.len())], "limit {limit}");
            }
            for (nth, at) in thread.history().await.unwrap().iter().enumerate() {
                for limit in [1, 2, whole.len()] {
                    let part = json(&thread.history().before(at.id).limit(limit).await.unwrap());
                    let end = (nth + 1 + limit).min(whole.len());
                    assert_eq!(part, whole[nth + 1..end], "before {nth}, limit {limit}");
                }
            }
            for source in [CheckpointSource::Loop, CheckpointSource::Update, CheckpointSource::Fork] {
                let part = json(&thread.history().source(source).await.unwrap());
                let name = &part[0]["source"];
                let wanted: Vec<_> = whole.iter().filter(|at| at["source"] == *name).cloned().collect();
                assert_eq!(part, wanted, "{source:?}");
            }
        }
    })
    .await;
}
