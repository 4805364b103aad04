//! Every prefix of the writes of a replay from the middle of a nested call continues the call there.

use superstep::checkpoint::CheckpointId;
use superstep::subgraph::Subgraph;
use superstep::thread::Thread;
use superstep::{ContextWith, Durability, END, Graph, GraphState, START, StateGraph};

use crate::prefixes::{recording_store, reopened};

/// The log has the number of the run that ran each node.
#[derive(GraphState, Clone, Debug, PartialEq)]
struct Walk {
    #[state(reducer = append)]
    log: Vec<String>,
}

macro_rules! nodes {
    ($($name:ident)*) => {$(
        async fn $name(_: &Walk, cx: &ContextWith<u32>) -> WalkUpdate {
            Walk::update().log([format!("{} {}", stringify!($name), cx.context())])
        }
    )*};
}

nodes! { pack one two rest }

type Node = Subgraph<Walk, u32>;

fn walk() -> StateGraph<Walk, u32> {
    StateGraph::<Walk>::with_context::<u32>()
}

fn graph() -> (Graph<Walk, u32>, Node, Node) {
    let inner = walk().edge(START, one).edge(one, two).edge(two, END).compile().unwrap().as_node("inner");
    let outer = walk().edge(START, pack).edge(pack, &inner).edge(&inner, END).compile().unwrap();
    let outer = outer.as_node("outer");
    let graph = walk().edge(START, &outer).edge(&outer, rest).edge(rest, END).compile().unwrap();
    (graph, outer, inner)
}

async fn history(thread: &Thread<Walk, u32>) -> Vec<CheckpointId> {
    thread.history().await.unwrap().iter().map(|snapshot| snapshot.id).collect()
}

#[tokio::test]
async fn replay_inside_a_call_continues_from_every_prefix() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let (graph, outer, inner) = graph();
        let (store, batches) = recording_store();
        let thread = graph.with_checkpointer(store).thread("t");
        thread.run(Walk::input()).context(1_u32).await.unwrap();
        let old = history(&thread).await;
        let calls = thread.within(&outer);
        let calls = calls.within(&inner).history().await.unwrap();
        let middle = calls.iter().find(|snapshot| snapshot.next.iter().any(|next| &**next == "two"));
        let before = batches.lock().unwrap().len();
        let outer_calls = thread.within(&outer);
        let within = outer_calls.within(&inner);
        let again = within.at(middle.unwrap().id).run_again().durability(durability).context(2_u32);
        let ended = again.await.unwrap();
        assert_eq!(ended.state().log, ["pack 1", "one 1", "two 2", "rest 2"], "{durability:?}");
        let batches = batches.lock().unwrap().clone();
        for count in before + 1..=batches.len() {
            let thread = graph.with_checkpointer(reopened(&batches[..count]).await).thread("t");
            if history(&thread).await == old {
                continue;
            }
            let about = format!("after {count} of {} batches, {durability:?}", batches.len());
            let ended = thread.resume(()).durability(durability).context(2_u32).await.unwrap();
            assert_eq!(ended.state().log, ["pack 1", "one 1", "two 2", "rest 2"], "{about}");
        }
    }
}
