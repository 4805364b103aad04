//! A subgraph call that is retried keeps the answers that it was given.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use superstep::checkpoint::{
    Checkpoint, CheckpointFuture, CheckpointId, CheckpointQuery, Checkpointer, HistoryEntry, Loaded,
    MemoryCheckpointer, NamespaceQuery, NamespaceRecord, Page, Prune, Pruned, ThreadQuery, ThreadRecord,
    WriteBatch,
};
use superstep::interrupt::Question;
use superstep::policy::{Policy, Retry};
use superstep::{Context, END, GraphState, NodeError, Outcome, START, StateGraph};
use tokio::time::sleep;

#[derive(GraphState, Clone)]
struct Order {
    approved: Option<bool>,
}

#[derive(Serialize, Deserialize)]
struct Approve;

impl Question for Approve {
    type Answer = bool;
}

/// Asks, and records the answer in a durable step, which takes a while.
async fn record(_: &Order, cx: &Context) -> Result<OrderUpdate, NodeError> {
    let approved = cx.interrupt(Approve).await;
    let work = async {
        sleep(Duration::from_secs(1)).await;
        Ok::<_, NodeError>(())
    };
    cx.step("record", work).await?;
    Ok(Order::update().approved(approved))
}

/// A task that finishes at once when it runs again.
async fn beside(_: &Order, cx: &Context) -> OrderUpdate {
    cx.interrupt(Approve).keyed("beside").await;
    OrderUpdate::default()
}

/// The attempt ends while the store is still writing the result of a sibling, before which the call may not write.
#[tokio::test(start_paused = true)]
async fn attempt_timeout_loses_no_answer() {
    for own_state in [false, true] {
        let inner = StateGraph::<Order>::new().edge(START, record).edge(record, END).compile().unwrap();
        let inner = inner.as_node("inner");
        let policy = Policy::new().timeout(Duration::from_secs(3)).retry(Retry::attempts(9));
        let graph = StateGraph::<Order>::new().edge(START, beside).edge(beside, END);
        let graph = if own_state {
            let inner = inner
                .mapped(|_: &Order| Order::input(), |done| Order::update().approved(done.state.approved));
            graph.edge(START, &inner).edge(&inner, END).policy(&inner, policy).compile()
        } else {
            graph.edge(START, &inner).edge(&inner, END).policy(&inner, policy).compile()
        };
        let graph = graph.unwrap();
        let store = MemoryCheckpointer::new();
        let thread = graph.with_checkpointer(store.clone()).thread("t");
        thread.run(Order::input()).await.unwrap();
        let answers: Vec<_> = thread.interrupts().await.unwrap().all::<Approve>().unwrap();
        let answers: Vec<_> = answers.iter().map(|open| open.answer(true)).collect();
        assert_eq!(answers.len(), 2);

        let slow = graph.with_checkpointer(SlowStore(store)).thread("t");
        let resumed = slow.resume(answers).await.unwrap();
        let Outcome::Done(order) = resumed else { panic!("the accepted answer is lost") };
        assert_eq!(order.approved, Some(true));
    }
}

/// A store whose commits outside of subgraph calls take a while.
struct SlowStore(MemoryCheckpointer);

impl Checkpointer for SlowStore {
    fn commit(&self, batch: WriteBatch) -> CheckpointFuture<'_, ()> {
        Box::pin(async move {
            if batch.namespace.is_empty() {
                sleep(Duration::from_secs(4)).await;
            }
            self.0.commit(batch).await
        })
    }

    fn get(
        &self,
        thread: &str,
        namespace: &str,
        checkpoint: Option<CheckpointId>,
    ) -> CheckpointFuture<'_, Loaded> {
        self.0.get(thread, namespace, checkpoint)
    }

    fn list(&self, query: CheckpointQuery) -> CheckpointFuture<'_, Page<Checkpoint>> {
        self.0.list(query)
    }

    fn history(&self, query: CheckpointQuery) -> CheckpointFuture<'_, Page<HistoryEntry>> {
        self.0.history(query)
    }

    fn namespaces(&self, query: NamespaceQuery) -> CheckpointFuture<'_, Page<NamespaceRecord>> {
        self.0.namespaces(query)
    }

    fn threads(&self, query: ThreadQuery) -> CheckpointFuture<'_, Page<ThreadRecord>> {
        self.0.threads(query)
    }

    fn delete(&self, thread: &str, epoch: Option<u64>) -> CheckpointFuture<'_, bool> {
        self.0.delete(thread, epoch)
    }

    fn copy(&self, from: &str, to: &str, epoch: Option<u64>) -> CheckpointFuture<'_, ()> {
        self.0.copy(from, to, epoch)
    }

    fn prune(&self, prune: Prune) -> CheckpointFuture<'_, Pruned> {
        self.0.prune(prune)
    }
}
