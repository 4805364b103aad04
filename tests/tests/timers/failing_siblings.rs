//! A timer fires in a subgraph call, and another task of the superstep fails.

use std::future::pending;

use superstep::{ContextWith, END, ErrorKind, NodeError, START, StateGraph};
use tests::stores::on_every_store;
use tokio::time::{Duration, advance, sleep};

use super::claim::{Approve, Claim, ClaimUpdate, DAY, Office, Reason, node_error, office, say};
use super::graph_of;

async fn works(_: &Claim, cx: &ContextWith<Office>) -> Result<ClaimUpdate, NodeError> {
    let way = tokio::select! {
        _ = cx.interrupt(Approve) => "answered",
        () = cx.sleep(DAY) => "late",
    };
    let work = async {
        cx.context().note(way);
        if cx.context().version() < 2 {
            pending::<()>().await;
        }
        Ok::<_, NodeError>(())
    };
    cx.step("work", work).await?;
    Ok(say(way))
}

/// Version 0 asks, version 1 fails once the timer beside it has fired.
async fn sibling(_: &Claim, cx: &ContextWith<Office>) -> Result<ClaimUpdate, NodeError> {
    match cx.context().version() {
        0 => drop(cx.interrupt(Reason).await),
        1 => {
            while cx.context().done().is_empty() {
                sleep(Duration::from_millis(1)).await;
            }
            return Err(NodeError::msg("broken"));
        }
        _ => {}
    }
    Ok(say("sibling"))
}

#[tokio::test(start_paused = true)]
async fn withdrawn_question_of_a_call_stays_closed_when_a_sibling_fails() {
    on_every_store(async |store| {
        for levels in 0..=3 {
            let call = (0..levels).fold(graph_of!(works), |graph, _| {
                let inner = graph.as_node("inner");
                let outer = StateGraph::<Claim>::with_context::<Office>();
                outer.edge(START, &inner).edge(&inner, END).compile().unwrap()
            });
            let call = call.as_node("call");
            let graph = StateGraph::<Claim>::with_context::<Office>();
            let graph = graph.edge(START, &call).edge(START, sibling).edge(&call, END).edge(sibling, END);
            let graph = graph.compile().unwrap();
            let thread = graph.with_checkpointer(store.open()).thread(format!("{levels}"));
            let work = office();
            thread.run(Claim::input()).context(work.clone()).await.unwrap();
            let answer = thread.interrupts().await.unwrap().only::<Approve>().unwrap().answer(true);
            advance(2 * DAY).await;
            work.deploy(1);
            let error = thread.resume(()).context(work.clone()).await.unwrap_err();
            assert_eq!((node_error(&error).as_str(), work.done()), ("broken", vec!["late".to_owned()]));

            let open = thread.interrupts().await.unwrap();
            assert!(open.interrupts().is_empty(), "{open:?}");
            work.deploy(2);
            let refused = thread.resume(answer).context(work.clone()).await.unwrap_err();
            assert!(matches!(refused.kind(), ErrorKind::InterruptNotOpen { .. }), "{refused}");
            let outcome = thread.resume(()).context(work).await.unwrap();
            assert_eq!(outcome.state().log, ["late", "sibling"]);
        }
    })
    .await;
}
