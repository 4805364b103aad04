//! Dropped steps: the continued run repeats no durable step and loses no answer.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use superstep::{ContextWith, END, Graph, Result, START, StateGraph};

use super::{Approve, Talk, TalkUpdate, approve, heard, ok};
use crate::engine::trace::{Journal, block_on, workers};

/// Yields `times` times.
async fn pause(times: u32) {
    for _ in 0..times {
        let mut polled = false;
        std::future::poll_fn(|cx| {
            if std::mem::replace(&mut polled, true) {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }
}

async fn careful(_: &Talk, cx: &ContextWith<Journal>) -> Result<TalkUpdate> {
    pause(1).await;
    let receipt = cx
        .step("charge", async {
            pause(1).await;
            // There is no await between this and the end of the step.
            cx.context().note("charge");
            ok("receipt".to_owned())
        })
        .await?;
    pause(1).await;
    let yes = cx.interrupt(approve("send")).await;
    pause(1).await;
    Ok(heard(format!("{receipt} {yes}")))
}

async fn sibling(_: &Talk, cx: &ContextWith<Journal>) -> TalkUpdate {
    pause(2).await;
    heard(format!("sibling {}", cx.interrupt(approve("sibling")).await))
}

fn alone() -> Graph<Talk, Journal> {
    StateGraph::<Talk>::with_context::<Journal>().edge(START, careful).edge(careful, END).compile().unwrap()
}

fn fan_out() -> Graph<Talk, Journal> {
    StateGraph::<Talk>::with_context::<Journal>()
        .edge(START, (careful, sibling))
        .edge(careful, END)
        .edge(sibling, END)
        .compile()
        .unwrap()
}

/// Drops each step of a run after `polls` polls, then continues it. Returns the number of dropped steps.
async fn drop_each_step(graph: &Graph<Talk, Journal>, polls: u32, expected: &[&str]) -> u32 {
    let journal = Arc::new(Journal::default());
    let mut run = graph.run(Talk::input()).context(Arc::clone(&journal)).start().unwrap();
    let mut dropped = 0;
    loop {
        {
            let mut step = pin!(run.step());
            let mut done = false;
            for _ in 0..polls {
                done = step.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready();
                if done {
                    break;
                }
            }
            dropped += u32::from(!done);
        }
        while run.step().await.unwrap() {}
        let Some(pause) = run.pause() else { break };
        let answers: Vec<_> =
            pause.all::<Approve>().unwrap().iter().map(|asked| asked.answer(true)).collect();
        run.answer(answers).unwrap();
    }
    assert_eq!(run.state().heard, expected);
    assert_eq!(journal.take(), ["charge"]);
    dropped
}

#[test]
fn dropped_single_task_repeats_no_durable_step() {
    let dropped: Vec<u32> =
        (0..8).map(|polls| block_on(drop_each_step(&alone(), polls, &["receipt true"]))).collect();
    assert!(dropped[0] > 0 && dropped[7] == 0, "{dropped:?}");
}

#[test]
fn dropped_sibling_tasks_repeat_no_durable_step() {
    for polls in 0..8 {
        block_on(drop_each_step(&fan_out(), polls, &["receipt true", "sibling true"]));
        workers(2).block_on(drop_each_step(&fan_out(), polls, &["receipt true", "sibling true"]));
    }
}

#[test]
fn answers_survive_dropped_steps() {
    block_on(async {
        let mut run = alone().run(Talk::input()).context(Journal::default()).start().unwrap();
        while run.step().await.unwrap() {}
        let asked = run.pause().unwrap().only::<Approve>().unwrap();
        run.answer(asked.answer(true)).unwrap();
        for _ in 0..3 {
            let mut step = pin!(run.step());
            assert!(step.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        }
        assert_eq!(run.finish().await.unwrap().into_state().heard, ["receipt true"]);
    });
}
