//! The open questions of a task, as its run and as its thread list them.

use superstep::{ContextWith, END, START, StateGraph};
use tests::stores::on_every_store;

use super::claim::{Approve, Claim, ClaimUpdate, Office, Reason, office, say};
use super::graph_of;

#[tokio::test]
async fn open_questions_are_in_the_order_of_asking() {
    async fn asks(_: &Claim, cx: &ContextWith<Office>) -> ClaimUpdate {
        let answers = tokio::join!(
            cx.interrupt(Reason),
            cx.interrupt(Approve),
            cx.interrupt(Reason).keyed("z"),
            cx.interrupt(Reason).keyed("a"),
        );
        say(format!("{answers:?}"))
    }
    for levels in 0..3 {
        let graph = (0..levels).fold(graph_of!(asks), |graph, _| {
            let inner = graph.as_node("inner");
            let outer = StateGraph::<Claim>::with_context::<Office>();
            outer.edge(START, &inner).edge(&inner, END).compile().unwrap()
        });
        on_every_store(async |store| {
            let thread = graph.with_checkpointer(store.open()).thread(format!("{levels}"));
            let outcome = thread.run(Claim::input()).context(office()).await.unwrap();
            let stored = thread.interrupts().await.unwrap();
            assert_eq!(stored.interrupts(), outcome.pause().unwrap().interrupts());
            let outcome = thread.resume(()).context(office()).await.unwrap();
            assert_eq!(stored.interrupts(), outcome.pause().unwrap().interrupts());
        })
        .await;
    }
}
