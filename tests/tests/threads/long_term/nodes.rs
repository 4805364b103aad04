//! Nodes use the long-term store of their graph, with and without threads.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use superstep::checkpoint::MemoryCheckpointer;
use superstep::store::{LongTermStore, MemoryStore, StoreError};
use superstep::{Context, ContextWith, END, ErrorKind, Graph, GraphState, Result, START, StateGraph, bail};

#[derive(GraphState, Clone)]
struct Chat {
    #[state(input)]
    user: String,
    #[state(input)]
    said: String,
    reply: String,
}

async fn remember(chat: &Chat, cx: &Context) -> Result<()> {
    cx.store()?.of::<String>(["users", &chat.user]).put("said", &chat.said).await?;
    Ok(())
}

async fn reply(chat: &Chat, cx: &Context) -> Result<ChatUpdate> {
    let said = cx.store()?.of::<String>(["users", &chat.user]).get("said").await?;
    Ok(Chat::update().reply(format!("{} {said:?}", cx.thread().unwrap_or("nowhere"))))
}

fn chat() -> Graph<Chat> {
    StateGraph::<Chat>::new().edge(START, reply).edge(reply, remember).edge(remember, END).compile().unwrap()
}

#[tokio::test]
async fn threads_share_the_long_term_store() {
    let store = MemoryStore::new();
    for graph in [
        chat().with_store(store.clone()).with_checkpointer(MemoryCheckpointer::new()),
        chat().with_checkpointer(MemoryCheckpointer::new()).with_store(store.clone()).abandon_pending(),
    ] {
        LongTermStore::new(store.clone()).of::<String>(["users", "ann"]).delete("said").await.unwrap();
        let run = async |thread: &str, user: &str, said: &str| {
            graph.thread(thread).run(Chat::input(user, said)).await.unwrap().into_state().reply
        };
        assert_eq!(run("monday", "ann", "a").await, "monday None");
        assert_eq!(run("tuesday", "bob", "b").await, "tuesday None");
        assert_eq!(run("friday", "ann", "c").await, "friday Some(\"a\")");
        LongTermStore::new(store.clone()).of::<String>(["users", "bob"]).delete("said").await.unwrap();
    }
}

#[tokio::test]
async fn graph_without_threads_has_a_store() {
    let store = LongTermStore::new(MemoryStore::new());
    let graph = chat().with_store(store.clone());
    graph.run(Chat::input("ann", "a")).await.unwrap();
    assert_eq!(graph.run(Chat::input("ann", "b")).await.unwrap().state().reply, "nowhere Some(\"a\")");
    assert_eq!(store.of::<String>(["users", "ann"]).get("said").await.unwrap().as_deref(), Some("b"));
}

#[tokio::test]
async fn subgraph_uses_the_parents_store_by_default() {
    let (outer, own) = (LongTermStore::new(MemoryStore::new()), LongTermStore::new(MemoryStore::new()));
    for (inner, expected) in [(chat(), &outer), (chat().with_store(own.clone()), &own)] {
        let inner = inner.as_node("inner");
        let graph = StateGraph::<Chat>::new().edge(START, &inner).edge(&inner, END).compile().unwrap();
        let graph = graph.with_store(outer.clone());
        graph.run(Chat::input("ann", "a")).await.unwrap();
        let stored = graph.with_checkpointer(MemoryCheckpointer::new()).thread("t");
        assert_eq!(stored.run(Chat::input("ann", "b")).await.unwrap().state().reply, "t Some(\"a\")");
        for store in [&outer, &own] {
            let there = store.of::<String>(["users", "ann"]).delete("said").await.unwrap();
            assert_eq!(there, std::ptr::eq(store, expected));
        }
    }
}

#[tokio::test]
async fn missing_store_fails_the_node_with_a_hint() {
    let error = chat().run(Chat::input("ann", "a")).await.unwrap_err();
    let ErrorKind::Node { first, .. } = error.kind() else { panic!("{error:?}") };
    assert!(matches!(first.error.downcast_ref(), Some(StoreError::NoStore { .. })));
    assert_eq!(
        first.error.to_string(),
        "node `reply` uses the long-term store, but its graph has none: add one with `graph.with_store(..)`"
    );
}

#[derive(GraphState, Clone)]
struct Order {
    done: bool,
}

#[derive(Default)]
struct Fault {
    repaired: AtomicBool,
    paid: AtomicU32,
}

async fn pay(_: &Order, cx: &ContextWith<Fault>) -> Result<OrderUpdate> {
    let store = cx.store()?;
    // The first write happens at each attempt, the second in a step, once.
    let attempts = store.of::<u32>("attempts");
    attempts.put("order", &(attempts.get("order").await?.unwrap_or(0) + 1)).await?;
    let payments = store.of::<u32>("payments");
    cx.step("pay", async {
        payments.put("order", &(cx.context().paid.fetch_add(1, Ordering::Relaxed) + 1)).await
    })
    .await?;
    if !cx.context().repaired.load(Ordering::Relaxed) {
        bail!("the line is dead");
    }
    Ok(Order::update().done(true))
}

#[tokio::test]
async fn store_writes_survive_a_failed_superstep() {
    let store = LongTermStore::new(MemoryStore::new());
    let graph =
        StateGraph::<Order>::with_context::<Fault>().edge(START, pay).edge(pay, END).compile().unwrap();
    let graph = graph.with_store(store.clone()).with_checkpointer(MemoryCheckpointer::new());
    let thread = graph.thread("t");
    let fault = std::sync::Arc::new(Fault::default());
    thread.run(Order::input()).context(fault.clone()).await.unwrap_err();
    assert_eq!(store.of::<u32>("attempts").get("order").await.unwrap(), Some(1));
    fault.repaired.store(true, Ordering::Relaxed);
    assert!(thread.resume(()).context(fault.clone()).await.unwrap().state().done);
    assert_eq!(store.of::<u32>("attempts").get("order").await.unwrap(), Some(2));
    assert_eq!(store.of::<u32>("payments").get("order").await.unwrap(), Some(1));
}

#[tokio::test]
async fn node_can_be_called_alone_with_a_store() {
    let state = Chat::started(Chat::input("ann", "a")).unwrap();
    let cx = Context::detached("reply").with_store(MemoryStore::new());
    remember(&state, &cx).await.unwrap();
    let update = reply(&state, &cx).await.unwrap();
    assert_eq!(state.updated(update).unwrap().reply, "nowhere Some(\"a\")");
    assert!(Context::detached("reply").store().is_err());
}
