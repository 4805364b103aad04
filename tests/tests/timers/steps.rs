//! A task is suspended after its steps.

use superstep::{ContextWith, NodeError};
use tests::stores::on_every_store;
use tokio::time::{Duration, advance};

use super::claim::{Approve, Claim, ClaimUpdate, DAY, Office, SECOND, approval, office, say};
use super::graph_of;

/// Takes a while, and counts its beginnings and ends.
async fn work(office: &Office) -> Result<(), NodeError> {
    office.note("begins");
    tokio::time::sleep(Duration::from_secs(60)).await;
    office.note("ends");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn step_beside_a_question_runs_once() {
    async fn both(_: &Claim, cx: &ContextWith<Office>) -> Result<ClaimUpdate, NodeError> {
        let (yes, worked) = tokio::join!(cx.interrupt(Approve), cx.step("work", work(cx.context())));
        worked?;
        Ok(say(format!("answered {yes}")))
    }
    let graph = graph_of!(both);
    on_every_store(async |store| {
        let (thread, work) = (store.thread(&graph), office());
        let outcome = thread.run(Claim::input()).context(work.clone()).await.unwrap();
        assert_eq!(outcome.pause().unwrap().interrupts().len(), 1);
        assert_eq!(work.done(), ["begins", "ends"]);
        let answer = approval(&thread).await;
        let outcome = thread.resume(answer).context(work.clone()).await.unwrap();
        assert_eq!(outcome.state().log, ["answered true"]);
        assert_eq!(work.done(), ["begins", "ends"]);
    })
    .await;
}

/// A step that follows a timer, while the question stays open: a reminder every day.
#[tokio::test(start_paused = true)]
async fn step_after_a_timer_runs_once_beside_the_question() {
    async fn reminds(_: &Claim, cx: &ContextWith<Office>) -> Result<ClaimUpdate, NodeError> {
        let question = cx.interrupt(Approve);
        tokio::pin!(question);
        for day in 0.. {
            let day: u32 = day;
            tokio::select! {
                yes = &mut question => return Ok(say(format!("answered {yes} after {day}"))),
                () = cx.sleep(DAY).keyed(day.to_string()) => {
                    cx.step(&format!("mail {day}"), work(cx.context())).await?;
                }
            }
        }
        Ok(ClaimUpdate::default())
    }
    let graph = graph_of!(reminds);
    on_every_store(async |store| {
        let persistent = graph.with_checkpointer(store.open());
        let (thread, work) = (persistent.thread("t"), office());
        let mut outcome = thread.run(Claim::input()).context(work.clone()).await.unwrap();
        let first = approval(&thread).await;
        for _ in 0..3 {
            let wakes_at = outcome.pause().unwrap().wakes_at().expect("it has a wake-up time");
            assert_eq!(outcome.pause().unwrap().interrupts().len(), 1);
            advance(DAY + SECOND).await;
            assert_eq!(persistent.due(wakes_at).await.unwrap().len(), 1);
            outcome = thread.resume(()).context(work.clone()).await.unwrap();
        }
        assert_eq!(work.done(), ["begins", "ends"].repeat(3));
        advance(DAY + SECOND).await;
        let outcome = thread.resume(first).context(work.clone()).await.unwrap();
        assert_eq!(outcome.state().log, ["answered true after 3"]);
        assert_eq!(work.done().len(), 6);
    })
    .await;
}
