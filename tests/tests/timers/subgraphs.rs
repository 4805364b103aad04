//! The same rules inside subgraphs.

use std::future::pending;

use superstep::{ContextWith, END, ErrorKind, Graph, NodeError, START, StateGraph};
use tests::stores::on_every_store;
use tokio::time::advance;

use super::claim::{Approve, Claim, ClaimUpdate, DAY, Office, approval, crash_when, office, say};
use super::graph_of;

async fn works(_: &Claim, cx: &ContextWith<Office>) -> Result<ClaimUpdate, NodeError> {
    let way = tokio::select! {
        _ = cx.interrupt(Approve) => "answered",
        () = cx.sleep(DAY) => "late",
    };
    let work = async {
        cx.context().note(way);
        if cx.context().version() == 0 {
            pending::<()>().await;
        }
        Ok::<_, NodeError>(())
    };
    cx.step("work", work).await?;
    Ok(say(way))
}

/// Nests the graph of the node `levels` deep.
fn nested(levels: u32) -> Graph<Claim, Office> {
    (0..levels).fold(graph_of!(works), |graph, _| {
        let inner = graph.as_node("inner");
        let outer = StateGraph::<Claim>::with_context::<Office>();
        outer.edge(START, &inner).edge(&inner, END).compile().unwrap()
    })
}

/// After a timer inside the call has fired, no level accepts an answer to the question.
#[tokio::test(start_paused = true)]
async fn fired_timer_withdraws_the_question_at_every_level() {
    on_every_store(async |store| {
        for levels in 1..=3 {
            let graph = nested(levels);
            let persistent = graph.with_checkpointer(store.open());
            let (thread, work) = (persistent.thread(format!("{levels}")), office());
            thread.run(Claim::input()).context(office()).await.unwrap();
            let answer = approval(&thread).await;
            advance(2 * DAY).await;
            let run = thread.resume(()).context(work.clone());
            crash_when(run, || !work.done().is_empty()).await;

            let thread = graph.with_checkpointer(store.open()).thread(format!("{levels}"));
            assert!(thread.interrupts().await.unwrap().interrupts().is_empty());
            let refused = thread.resume(answer).context(office()).await.unwrap_err();
            assert!(matches!(refused.kind(), ErrorKind::InterruptNotOpen { .. }), "{refused}");
            let work = office();
            work.deploy(1);
            assert_eq!(thread.resume(()).context(work).await.unwrap().state().log, ["late"]);
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn accepted_answer_wins_inside_a_subgraph() {
    on_every_store(async |store| {
        for levels in 1..=3 {
            for round in 0..6 {
                let graph = nested(levels);
                let thread = graph.with_checkpointer(store.open()).thread(format!("{levels} {round}"));
                thread.run(Claim::input()).context(office()).await.unwrap();
                let answer = approval(&thread).await;
                advance(2 * DAY).await;
                let work = office();
                work.deploy(1);
                let outcome = thread.resume(answer).context(work).await.unwrap();
                assert_eq!(outcome.state().log, ["answered"]);
            }
        }
    })
    .await;
}
