//! The result of `cx.step` is stored with its task until the superstep is applied.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::{ContextWith, END, Graph, NodeError, Outcome, START};

use super::stores::on_every_store;
use super::story::{Probe, Story, StoryUpdate, begin, enter, log_of, recording_nodes, say, story};

recording_nodes! { after }

#[derive(Serialize, Deserialize)]
struct Go;

impl Question for Go {
    type Answer = bool;
}

async fn charge(cx: &ContextWith<Probe>, card: &str) -> Result<String, NodeError> {
    enter(cx, "charge").await?;
    Ok(format!("receipt of {card}"))
}

async fn pay(_: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
    let receipt = cx.step("charge", charge(cx, "visa")).await?;
    let yes = cx.interrupt(Go).await;
    let ticket: u32 = cx
        .step("ticket", async {
            enter(cx, "ticket").await?;
            Ok::<_, NodeError>(7)
        })
        .await?;
    enter(cx, "pay").await?;
    Ok(say(format!("{receipt}, {yes}, {ticket}")))
}

fn shop() -> Graph<Story, Probe> {
    story().edge(START, pay).edge(pay, after).edge(after, END).compile().unwrap()
}

#[tokio::test]
async fn finished_step_does_not_run_again() {
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        let resume = async |failing: &[&'static str], answer: bool| {
            probe.set_failing(failing);
            let thread = store.thread(&shop());
            let go = thread.interrupts().await.unwrap().only::<Go>();
            let answers = go.ok().filter(|_| answer).map(|go| go.answer(true));
            thread.resume(Vec::from_iter(answers)).context(Arc::clone(&probe)).await
        };
        probe.set_failing(&["charge"]);
        store.thread(&shop()).run(begin("in")).context(Arc::clone(&probe)).await.unwrap_err();
        assert_eq!(probe.ran(), "charge");
        // A failed step runs again, a finished one does not.
        assert!(matches!(resume(&[], false).await, Ok(Outcome::Interrupted(_))));
        assert_eq!(probe.ran(), "charge");
        resume(&["ticket"], true).await.unwrap_err();
        assert_eq!(probe.ran(), "ticket");
        resume(&["pay"], false).await.unwrap_err();
        assert_eq!(probe.ran(), "ticket pay");
        let outcome = resume(&[], false).await.unwrap();
        assert_eq!(probe.ran(), "pay after");
        assert_eq!(log_of(outcome.state()), "in receipt of visa, true, 7 after");
    })
    .await;
}

#[tokio::test]
async fn same_key_in_another_superstep_is_another_step() {
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        for _ in 0..2 {
            let thread = store.thread(&shop());
            thread.run(begin("in")).context(Arc::clone(&probe)).await.unwrap();
            let go = thread.interrupts().await.unwrap().only::<Go>().unwrap();
            thread.resume(go.answer(true)).context(Arc::clone(&probe)).await.unwrap();
            assert_eq!(probe.ran(), "charge ticket pay after");
        }
    })
    .await;
}
