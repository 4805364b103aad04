//! A later attempt may await its sleeps in another order, or not at all.

use superstep::{ContextWith, NodeError};
use tests::stores::TestStore;
use tokio::time::{advance, timeout};

use super::claim::{Approve, Claim, ClaimUpdate, DAY, Office, SECOND, approval, node_error, office, say};
use super::graph_of;

/// Stores in memory. While a file is written, the paused clock would advance to the end of the test.
fn stores() -> [TestStore; 2] {
    [TestStore::memory(), TestStore::encrypted()]
}

/// Every attempt but the last fails after its sleeps.
async fn sleeps(cx: &ContextWith<Office>, keys: &[&str]) -> Result<ClaimUpdate, NodeError> {
    for key in keys {
        cx.sleep(DAY).keyed(key).await;
        cx.context().note(*key);
    }
    if cx.attempt() < 3 { Err(NodeError::msg("again")) } else { Ok(say("slept")) }
}

async fn reversed(_: &Claim, cx: &ContextWith<Office>) -> Result<ClaimUpdate, NodeError> {
    sleeps(cx, if cx.attempt() == 2 { &["b", "a"] } else { &["a", "b"] }).await
}

async fn backs_off(_: &Claim, cx: &ContextWith<Office>) -> Result<ClaimUpdate, NodeError> {
    sleeps(cx, &[cx.attempt().to_string().as_str()]).await
}

/// A sleep that is dropped is over. Without a key it counts nevertheless.
async fn drops(_: &Claim, cx: &ContextWith<Office>) -> Result<ClaimUpdate, NodeError> {
    let sleep = cx.sleep(DAY);
    if cx.attempt() == 1 {
        sleep.await
    } else {
        drop(sleep)
    }
    cx.context().note("first");
    cx.sleep(DAY).keyed("last").await;
    sleeps(cx, &[]).await
}

#[tokio::test(start_paused = true)]
async fn sleeps_may_change_from_attempt_to_attempt() {
    let cases = [
        (graph_of!(reversed), &["a", "b", "b", "a", "a", "b"][..]),
        (graph_of!(backs_off), &["1", "2", "3"]),
        (graph_of!(drops), &["first", "first", "first"]),
    ];
    for store in stores() {
        for (which, (graph, expected)) in cases.iter().enumerate() {
            let thread = graph.with_checkpointer(store.open()).thread(format!("{which}"));
            let work = office();
            let first = thread.run(Claim::input()).context(work.clone()).await.unwrap_err();
            assert_eq!(node_error(&first), "again");
            let resume = || timeout(10 * DAY, thread.resume(()).context(work.clone()));
            let second = resume().await.expect("it does not hang").unwrap_err();
            assert_eq!(node_error(&second), "again");
            let outcome = resume().await.expect("it does not hang").unwrap();
            assert_eq!(outcome.state().log, ["slept"]);
            assert_eq!(work.done(), *expected);
        }
    }
}

/// A question beside the sleeps: its answer arrives although an earlier timer is not awaited any more.
#[tokio::test(start_paused = true)]
async fn answer_arrives_beside_a_timer_that_is_no_longer_awaited() {
    async fn reminded(_: &Claim, cx: &ContextWith<Office>) -> Result<ClaimUpdate, NodeError> {
        let question = cx.interrupt(Approve);
        tokio::pin!(question);
        // The day of the last reminder, which the next version of the program counts from another day on.
        for day in cx.context().version()..9 {
            tokio::select! {
                yes = &mut question => return Ok(say(format!("answered {yes}"))),
                () = cx.sleep(DAY).keyed(day.to_string()) => {}
            }
        }
        Ok(say("late"))
    }
    let graph = graph_of!(reminded);
    for store in stores() {
        for answered in [true, false] {
            let persistent = graph.with_checkpointer(store.open());
            let (thread, work) = (persistent.thread(format!("{answered}")), office());
            thread.run(Claim::input()).context(work.clone()).await.unwrap();
            advance(DAY + SECOND).await;
            thread.resume(()).context(work.clone()).await.unwrap();
            work.deploy(1);
            let answer = approval(&thread).await;
            advance(DAY + SECOND).await;
            if answered {
                let outcome = thread.resume(answer).context(work.clone()).await.unwrap();
                assert_eq!(outcome.state().log, ["answered true"]);
                continue;
            }
            let outcome = thread.resume(()).context(work.clone()).await.unwrap();
            let now = persistent.due(outcome.pause().unwrap().wakes_at().unwrap() - SECOND);
            assert!(now.await.unwrap().is_empty(), "it waits for the next day");
        }
    }
}
