//! Requests with ids and keys, sent again after a crash at any point: each applies once.

use serde::{Deserialize, Serialize};
use superstep::checkpoint::MemoryCheckpointer;
use superstep::interrupt::{Answer, Question};
use superstep::subgraph::Subgraph;
use superstep::thread::{PersistentGraph, as_node};
use superstep::{Context, Durability, END, Error, Graph, GraphState, START, StateGraph};

use crate::instrumented_store::{Fault, InstrumentedStore};
use crate::journal::Journal;
use crate::prefixes::{recording_store, reopened};

#[derive(GraphState, Clone, Debug, PartialEq)]
struct Order {
    #[state(input, reducer = append)]
    log: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct Approve;

impl Question for Approve {
    type Answer = bool;
}

fn note(text: &str) -> OrderUpdate {
    Order::update().log([text.to_owned()])
}

async fn check() -> OrderUpdate {
    note("checked")
}

async fn review(cx: &Context) -> OrderUpdate {
    note(&format!("approved {}", cx.interrupt(Approve).await))
}

async fn sign(cx: &Context) -> OrderUpdate {
    note(&format!("signed {}", cx.interrupt(Approve).await))
}

async fn file() -> OrderUpdate {
    note("filed")
}

async fn ship() -> OrderUpdate {
    note("shipped")
}

fn desk() -> Subgraph<Order> {
    let desk = StateGraph::<Order>::new().edge(START, sign).edge(sign, file).edge(file, END);
    desk.compile().unwrap().as_node("desk")
}

fn graph(desk: &Subgraph<Order>) -> Graph<Order> {
    let graph = StateGraph::<Order>::new().edge(START, check).edge(check, review).edge(review, desk);
    graph.edge(desk, ship).edge(ship, END).compile().unwrap()
}

/// Everything that a client sends to a thread, from the beginning. Each request has an id or a key.
async fn send_all(
    graph: &PersistentGraph<Order>,
    desk: &Subgraph<Order>,
    answer: &mut Option<Answer>,
    durability: Durability,
) -> Result<Order, Error> {
    let thread = graph.thread("t");
    let input = Order::input().log(["in".to_owned()]);
    let outcome = thread.run(input).run_id("create").durability(durability).await?;
    if answer.is_none() {
        let shown = outcome.pause().unwrap();
        *answer = Some(shown.interrupts()[0].answer_json(true.into()));
    }
    let answered = thread.resume(answer.clone().unwrap()).update(note("patch")).idempotency_key("approve");
    answered.durability(durability).await?;
    thread.within(desk).update(note("by hand"), as_node(sign)).idempotency_key("sign").await?;
    thread.resume(()).idempotency_key("go on").durability(durability).await?;
    thread.update(note("paid"), as_node(ship)).idempotency_key("pay").await?;
    let added = thread.resume(()).goto(as_node(ship)).idempotency_key("ship again");
    Ok(added.durability(durability).await?.into_state())
}

const LOG: &str = "in checked patch approved true by hand filed shipped paid shipped";

#[tokio::test]
async fn requests_apply_once_from_every_prefix() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let (store, batches) = recording_store();
        let desk = desk();
        let mut answer = None;
        let whole = graph(&desk).with_checkpointer(store);
        let input = Order::input().log(["in".to_owned()]);
        whole.thread("t").run(input).run_id("create").durability(durability).await.unwrap();
        let asked = batches.lock().unwrap().len();
        let done = send_all(&whole, &desk, &mut answer, durability).await.unwrap();
        assert_eq!(done.log.join(" "), LOG, "{durability:?}");
        let batches = batches.lock().unwrap().clone();
        for count in 0..=batches.len() {
            let about = format!("after {count} of {} batches, {durability:?}", batches.len());
            let reopened = graph(&desk).with_checkpointer(reopened(&batches[..count]).await);
            // The client has seen the question only if the first run had returned.
            let mut answer = answer.clone().filter(|_| count >= asked);
            for _ in 0..2 {
                let done = send_all(&reopened, &desk, &mut answer, durability).await;
                assert_eq!(
                    done.unwrap_or_else(|error| panic!("{about}: {error:?}")).log.join(" "),
                    LOG,
                    "{about}"
                );
            }
        }
    }
}

/// A commit may fail, or succeed without its acknowledgement. The client sends everything again.
#[tokio::test]
async fn requests_apply_once_although_a_commit_fails() {
    for fault in [Fault::Before, Fault::After] {
        for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
            for commit in 0.. {
                let memory = MemoryCheckpointer::new();
                let mut store = InstrumentedStore::new(memory.clone(), Journal::with_listener(|_| {}));
                store.fails = Some((commit, fault));
                let desk = desk();
                let mut answer = None;
                let failing = graph(&desk).with_checkpointer(store);
                let about = format!("commit {commit}, {fault:?}, {durability:?}");
                let first = send_all(&failing, &desk, &mut answer, durability).await;
                if let Ok(done) = first {
                    assert_eq!(done.log.join(" "), LOG, "{about}");
                    break;
                }
                let whole = graph(&desk).with_checkpointer(memory);
                for _ in 0..2 {
                    let done = send_all(&whole, &desk, &mut answer, durability).await;
                    let done = done.unwrap_or_else(|error| panic!("{about}: {error:?}"));
                    assert_eq!(done.log.join(" "), LOG, "{about}");
                }
            }
        }
    }
}
