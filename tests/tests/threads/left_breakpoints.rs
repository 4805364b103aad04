//! A run that has left a breakpoint, by a resumption or step by step, takes it off its thread.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::thread::Thread;
use superstep::{ContextWith, END, Graph, NodeError, START};
use tests::stores::{TestStore, on_every_store};
use tests::story::{Probe, Story, StoryUpdate, begin, enter, recording_nodes, say, story};

recording_nodes! { one two }

#[derive(Serialize, Deserialize, Debug)]
struct Ask;

impl Question for Ask {
    type Answer = bool;
}

async fn ask(_: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
    let yes = cx.interrupt(Ask).await;
    enter(cx, "ask").await?;
    Ok(say(format!("ask {yes}")))
}

fn probe() -> Arc<Probe> {
    Arc::new(Probe::default())
}

async fn before<D: Send + Sync + 'static>(thread: &Thread<Story, D>) -> Vec<String> {
    thread.interrupts().await.unwrap().before().to_vec()
}

/// Polls a future a number of times, and then drops it.
async fn polled<F: Future>(times: u32, future: F) -> Option<F::Output> {
    let mut future = Box::pin(future);
    let mut left = times;
    poll_fn(|cx| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        match future.as_mut().poll(cx) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending if left == 0 => Poll::Ready(None),
            Poll::Pending => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
        }
    })
    .await
}

fn stepped() -> Graph<Story, Probe> {
    story().edge(START, one).edge(one, ask).edge(ask, END).interrupt_before(ask).compile().unwrap()
}

#[tokio::test]
async fn stepper_that_passes_a_breakpoint_takes_it_off_the_thread() {
    on_every_store(async |store| {
        let thread = store.thread(&stepped());
        let mut run = thread.run(begin("x")).context(probe()).start().await.unwrap().unwrap();
        while run.step().await.unwrap() {}
        assert_eq!(run.pause().unwrap().before(), ["ask"]);
        assert!(!run.step().await.unwrap());
        let pause = run.pause().unwrap();
        assert_eq!(pause.interrupts().len(), 1);
        assert!(pause.before().is_empty());
        let stored = thread.interrupts().await.unwrap();
        assert_eq!(stored.interrupts(), pause.interrupts());
        assert_eq!(stored.before(), pause.before(), "the thread shows the same pause as the run");
    })
    .await;
}

#[tokio::test]
async fn stepper_that_fails_after_a_breakpoint_takes_it_off_the_thread() {
    on_every_store(async |store| {
        let graph = story().edge(START, one).edge(one, two).edge(two, END).interrupt_before(two);
        let thread = store.thread(&graph.compile().unwrap());
        let probe = probe();
        probe.set_failing(&["two"]);
        let mut run =
            thread.run(begin("x")).run_id("r").context(Arc::clone(&probe)).start().await.unwrap().unwrap();
        while run.step().await.unwrap() {}
        run.step().await.unwrap_err();
        drop(run);
        assert_eq!(before(&thread).await, [""; 0]);
    })
    .await;
}

/// A run that is dropped after its breakpoint is not at the breakpoint, so the same run id continues it, as after a
/// resumption.
#[tokio::test]
async fn run_id_continues_a_stepper_dropped_after_its_breakpoint() {
    async fn slow(_: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
        enter(cx, "slow").await?;
        for _ in 0..5 {
            tokio::task::yield_now().await;
        }
        Ok(say("slow"))
    }
    let graph =
        story().edge(START, one).edge(one, slow).edge(slow, END).interrupt_before(slow).compile().unwrap();
    for by_hand in [false, true] {
        let store = TestStore::memory();
        let (thread, probe) = (store.thread(&graph), probe());
        let run = thread.run(begin("x")).run_id("r").context(Arc::clone(&probe));
        let mut run = run.start().await.unwrap().unwrap();
        while run.step().await.unwrap() {}
        if !by_hand {
            drop(run);
            run = thread.resume(()).context(Arc::clone(&probe)).start().await.unwrap().unwrap();
        }
        assert!(polled(4, run.step()).await.is_none());
        drop(run);
        assert_eq!(probe.ran(), "one slow");
        let again = thread.run(begin("x")).run_id("r").context(Arc::clone(&probe)).await.unwrap();
        assert!(again.pause().is_none(), "by hand: {by_hand}");
    }
}
