//! Attempt timeouts and idle timeouts.

use std::sync::Arc;
use std::time::Duration;

use superstep::messages::MessageChunk;
use superstep::policy::{Policy, Retry, TimedOut};
use superstep::{Context, ContextWith, END, ErrorKind, Graph, Result, START, StateGraph};
use tokio::time::{Instant, sleep};

use super::{SECOND, failure, graph_of, world};
use crate::engine::trace::{Journal, Trace, TraceUpdate, block_on, ran};
use crate::interrupts::{Approve, Talk, TalkUpdate, approve, heard, ok};

const LIMIT: Duration = Duration::from_secs(10);

/// Takes five minutes, and records when it is dropped.
async fn slow(_: &Trace, cx: &ContextWith<Journal>) -> TraceUpdate {
    struct Stopped<'a>(&'a Journal, Instant);
    impl Drop for Stopped<'_> {
        fn drop(&mut self) {
            self.0.note(format!("stopped after {:?}", self.1.elapsed()));
        }
    }
    let _stopped = Stopped(cx.context(), Instant::now());
    sleep(300 * SECOND).await;
    ran(cx)
}

fn slow_graph(policy: Policy) -> Graph<Trace, Journal> {
    let graph = StateGraph::<Trace>::with_context::<Journal>().edge(START, slow).edge(slow, END);
    graph.policy(slow, policy).compile().unwrap()
}

#[test]
fn timed_out_attempt_is_dropped_and_fails() {
    for (policy, expected) in [
        (Policy::new().timeout(LIMIT), TimedOut::Attempt { limit: LIMIT }),
        (Policy::new().idle_timeout(LIMIT), TimedOut::Idle { limit: LIMIT }),
        (Policy::new().timeout(LIMIT).idle_timeout(LIMIT / 2), TimedOut::Idle { limit: LIMIT / 2 }),
    ] {
        let journal = Arc::new(Journal::default());
        let run = slow_graph(policy).run(Trace::input()).context(Arc::clone(&journal));
        let error = block_on(run).unwrap_err();
        let timed_out = failure(&error).error.downcast_ref::<TimedOut>();
        assert_eq!(timed_out, Some(&expected));
        assert_eq!(journal.take().len(), 1);
    }
}

#[test]
fn timeout_error_names_the_limit() {
    let graph = slow_graph(Policy::new().timeout(LIMIT));
    let error = block_on(graph.run(Trace::input()).context(Journal::default())).unwrap_err();
    assert_eq!(
        format!("{error:?}"),
        "graph `Trace`: node `slow` failed in superstep 1, attempt 1\n  caused by: the attempt exceeded its timeout of 10s: \
         raise `Policy::timeout(..)` if it needs longer"
    );
}

#[test]
fn timed_out_attempt_is_retried() {
    let retry = Retry::attempts(3).backoff(60 * SECOND).factor(1.0);
    let graph = slow_graph(Policy::new().timeout(LIMIT).retry(retry));
    block_on(async {
        let (journal, begun) = (Arc::new(Journal::default()), Instant::now());
        graph.run(Trace::input()).context(Arc::clone(&journal)).await.unwrap_err();
        assert_eq!(journal.take().len(), 3);
        assert_eq!(
            begun.elapsed().as_secs(),
            3 * 10 + 2 * 60,
            "the backoff does not count towards the timeout"
        );
    });
}

#[test]
fn attempt_within_its_timeout_succeeds() {
    let graph = graph_of(Policy::new().timeout(LIMIT).idle_timeout(SECOND));
    block_on(async { graph.run(Trace::input()).context(world(0)).await.unwrap() });
}

#[test]
fn activity_resets_the_idle_timeout() {
    async fn beats(_: &Trace, cx: &Context) -> Result<TraceUpdate> {
        sleep(LIMIT * 2 / 3).await;
        cx.heartbeat();
        sleep(LIMIT * 2 / 3).await;
        cx.emit(1).await;
        sleep(LIMIT * 2 / 3).await;
        cx.token(MessageChunk::text("a")).await;
        sleep(LIMIT * 2 / 3).await;
        let _: u32 = cx
            .step("one", async {
                sleep(LIMIT * 2 / 3).await;
                ok(1)
            })
            .await?;
        sleep(LIMIT * 2 / 3).await;
        if cx.attempt() == 1 {
            sleep(LIMIT * 2 / 3).await;
        }
        Ok(ran(cx))
    }
    let graph = |retry| {
        let policy = Policy::new().idle_timeout(LIMIT).retry(retry);
        let graph = StateGraph::<Trace>::new().edge(START, beats).edge(beats, END);
        graph.policy(beats, policy).compile().unwrap()
    };
    let error = block_on(graph(Retry::attempts(1)).run(Trace::input())).unwrap_err();
    assert_eq!(failure(&error).error.downcast_ref(), Some(&TimedOut::Idle { limit: LIMIT }));
    let state = block_on(graph(Retry::attempts(2)).run(Trace::input())).unwrap().into_state();
    assert_eq!(state.log, ["1:beats"]);
}

#[test]
fn waiting_for_an_answer_does_not_time_out() {
    async fn asks(_: &Talk, cx: &Context) -> TalkUpdate {
        sleep(LIMIT / 2).await;
        let yes = cx.interrupt(approve("it")).await;
        sleep(LIMIT / 3).await;
        heard(yes.to_string())
    }
    let graph = StateGraph::<Talk>::new()
        .edge(START, asks)
        .edge(asks, END)
        .default_policy(Policy::new().timeout(LIMIT).idle_timeout(LIMIT))
        .compile()
        .unwrap();
    block_on(async {
        let mut run = graph.run(Talk::input()).start().unwrap();
        while run.step().await.unwrap() {}
        sleep(100 * LIMIT).await;
        let asked = run.pause().unwrap().only::<Approve>().unwrap();
        run.answer(asked.answer(true)).unwrap();
        assert_eq!(run.finish().await.unwrap().into_state().heard, ["true"]);
    });
}

#[test]
fn runtime_without_a_timer_is_an_error() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for policy in [
        Policy::new().timeout(LIMIT),
        Policy::new().idle_timeout(LIMIT),
        Policy::new().retry(Retry::attempts(2)),
    ] {
        let run = slow_graph(policy).run(Trace::input()).context(Journal::default());
        let error = runtime.block_on(run).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Runtime(_)), "{error}");
        assert!(error.to_string().contains("`enable_time`"), "{error}");
    }
    // Without a backoff, no timer is needed.
    let at_once = graph_of(Policy::new().retry(Retry::attempts(2).backoff(Duration::ZERO)));
    runtime.block_on(async { at_once.run(Trace::input()).context(world(1)).await.unwrap() });
}
