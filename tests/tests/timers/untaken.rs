//! An attempt that does not ask for an answer it was given fails. The answer stays stored.

use superstep::interrupt::Question;
use superstep::{ContextWith, END, NodeError, START, StateGraph};
use tests::stores::on_every_store;
use tokio::time::Duration;

use super::claim::{Approve, Claim, ClaimUpdate, DAY, Office, Reason, approval, node_error, office, say};
use super::graph_of;

/// Version 0 asks. The other versions do something else instead.
async fn changing(_: &Claim, cx: &ContextWith<Office>) -> Result<ClaimUpdate, NodeError> {
    match cx.context().version() {
        0 => {}
        1 => return Ok(say("not asked")),
        2 => drop(cx.interrupt(Reason).await),
        3 => cx.sleep(DAY).await,
        4 => {
            let never = async {
                cx.sleep(DAY).await;
                Ok::<_, NodeError>(())
            };
            let (_, waited) = tokio::join!(cx.sleep(2 * DAY), never);
            waited?;
        }
        5 => {
            let other = cx.interrupt(Approve).keyed("another key").await;
            return Ok(say(format!("another {other}")));
        }
        _ => tokio::time::sleep(Duration::from_secs(1)).await,
    }
    let yes = cx.interrupt(Approve).await;
    Ok(say(format!("answered {yes}")))
}

#[tokio::test(start_paused = true)]
async fn untaken_answer_fails_the_attempt_and_is_kept() {
    let graph = graph_of!(changing);
    on_every_store(async |store| {
        for (version, how) in [
            (1, "returned"),
            (2, "asked another question"),
            (3, "waits for something else"),
            (4, "waits for something else"),
            (5, "asked another question"),
        ] {
            for suspends in [false, true] {
                let thread = graph.with_checkpointer(store.open()).thread(format!("{version} {suspends}"));
                thread.run(Claim::input()).context(office()).await.unwrap();
                let (answer, changed) = (approval(&thread).await, office());
                let id = answer.id().to_owned();
                changed.deploy(version);
                let run = |office| {
                    let run = thread.resume(()).context(office);
                    if suspends { run.suspend_sleeps_longer_than(DAY / 2) } else { run }
                };
                let error = thread.resume(answer).context(changed.clone()).await.unwrap_err();
                let text = node_error(&error);
                assert!(text.contains(how) && text.contains(&id), "{version}: {text}");
                // Without a change of the code, it fails again.
                let error = run(changed).await.unwrap_err();
                assert!(node_error(&error).contains(how), "{version}: {error}");
                let outcome = run(office()).await.unwrap();
                assert_eq!(outcome.state().log, ["answered true"], "{version}");
            }
        }
    })
    .await;
}

/// A node that asks later than before still gets its answer.
#[tokio::test(start_paused = true)]
async fn answer_waits_for_a_slow_node() {
    let graph = graph_of!(changing);
    on_every_store(async |store| {
        let thread = store.thread(&graph);
        thread.run(Claim::input()).context(office()).await.unwrap();
        let (answer, changed) = (approval(&thread).await, office());
        changed.deploy(9);
        let outcome = thread.resume(answer).context(changed).await.unwrap();
        assert_eq!(outcome.state().log, ["answered true"]);
    })
    .await;
}

/// A sleep beside the work that leads to the question is no reason to give up.
#[tokio::test(start_paused = true)]
async fn sleep_beside_a_late_question_does_not_suspend() {
    async fn late(_: &Claim, cx: &ContextWith<Office>) -> ClaimUpdate {
        let ask = async {
            tokio::time::sleep(Duration::from_secs(600)).await;
            cx.interrupt(Approve).await
        };
        let (yes, ()) = tokio::join!(ask, cx.sleep(DAY));
        say(format!("answered {yes}"))
    }
    let graph = graph_of!(late);
    on_every_store(async |store| {
        let thread = store.thread(&graph);
        thread.run(Claim::input()).context(office()).await.unwrap();
        let answer = approval(&thread).await;
        let outcome =
            thread.resume(answer).suspend_sleeps_longer_than(DAY / 2).context(office()).await.unwrap();
        let pause = outcome.pause().unwrap();
        assert!(pause.interrupts().is_empty() && pause.wakes_at().is_some());
        let outcome = thread.resume(()).context(office()).await.unwrap();
        assert_eq!(outcome.state().log, ["answered true"]);
    })
    .await;
}

/// The question is asked in a subgraph that takes another route in its next attempt.
#[tokio::test(start_paused = true)]
async fn untaken_answer_inside_a_subgraph_is_kept() {
    on_every_store(async |store| {
        for unstored in [false, true] {
            let inner = graph_of!(changing).as_node("inner");
            let inner = if unstored { inner.unstored() } else { inner };
            let outer = StateGraph::<Claim>::with_context::<Office>();
            let graph = outer.edge(START, &inner).edge(&inner, END).compile().unwrap();
            let thread = graph.with_checkpointer(store.open()).thread(format!("{unstored}"));
            thread.run(Claim::input()).context(office()).await.unwrap();
            let (answer, changed) = (approval(&thread).await, office());
            changed.deploy(1);
            let error = thread.resume(answer).context(changed.clone()).await.unwrap_err();
            let text = with_causes(&error);
            assert!(text.contains("returned") && text.contains(Approve::name()), "{text}");
            thread.resume(()).context(changed).await.unwrap_err();
            let outcome = thread.resume(()).context(office()).await.unwrap();
            assert_eq!(outcome.state().log, ["answered true"]);
        }
    })
    .await;
}

fn with_causes(error: &superstep::Error) -> String {
    let mut text = error.to_string();
    let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(error);
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}
