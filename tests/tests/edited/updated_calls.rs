//! Roll backs of threads with subgraph calls that were updated by hand.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::thread::{AsNode, as_node, keep_plan};
use superstep::{ContextWith, END, NodeError, START};

use tests::stores::on_every_store;
use tests::story::{Probe, Story, StoryUpdate, begin, log_of, recording_nodes, say, story};

recording_nodes! { open close }

#[derive(Serialize, Deserialize, Debug)]
struct Go;

impl Question for Go {
    type Answer = bool;
}

async fn ask(_: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
    Ok(say(format!("ask {}", cx.interrupt(Go).await)))
}

#[tokio::test]
async fn update_inside_a_call_is_taken_back() {
    let deep = story().edge(START, ask).edge(ask, close).edge(close, END).compile().unwrap().as_node("deep");
    let outer = story().edge(START, open).edge(open, &deep).edge(&deep, END).compile().unwrap();
    let outer = outer.as_node("outer");
    let graph = story().edge(START, &outer).edge(&outer, END).compile().unwrap();
    let places: [fn() -> AsNode; 3] = [|| as_node(ask), || as_node(close), keep_plan];
    on_every_store(async |store| {
        for place in places {
            for edited in [false, true] {
                let probe = Arc::new(Probe::default());
                let thread = store.thread(&graph);
                thread.delete().await.unwrap();
                thread.run(begin("in")).context(Arc::clone(&probe)).await.unwrap();
                let first = thread.state().await.unwrap().unwrap().id;
                if edited {
                    thread.update(say("edited"), keep_plan()).context(Arc::clone(&probe)).await.unwrap();
                }
                let update = thread.within(&outer).within(&deep).update(say("by hand"), place());
                update.context(Arc::clone(&probe)).await.unwrap();

                thread.roll_back_to(first).await.unwrap();
                let thread = store.thread(&graph);
                let paused = thread.resume(()).context(Arc::clone(&probe)).await.unwrap();
                let go = paused.pause().unwrap().only::<Go>().unwrap();
                let ended = thread.resume(go.answer(true)).context(Arc::clone(&probe)).await.unwrap();
                assert_eq!(log_of(ended.state()), "in open ask true close", "{:?} {edited}", place());
            }
        }
    })
    .await;
}
