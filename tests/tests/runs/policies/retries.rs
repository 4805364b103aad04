//! Retries of failing nodes.

use std::sync::Arc;
use std::time::Duration;

use superstep::policy::{Policy, Retry};
use superstep::{Context, ContextWith, END, EventKind, Result, START, StateGraph, StreamMode, bail};
use tokio::sync::watch;

use super::{SECOND, Status, Unread, World, error, failure, flaky, graph_of, world};
use crate::engine::trace::{Trace, TraceUpdate, block_on, ran, workers};
use crate::interrupts::{Approve, Talk, TalkUpdate, approve, heard, ok};

#[test]
fn node_is_retried_with_exponential_backoff() {
    let graph = graph_of(Policy::new().retry(Retry::attempts(4).backoff(SECOND)));
    block_on(async {
        let world = world(3);
        let state = graph.run(Trace::input()).context(Arc::clone(&world)).await.unwrap().into_state();
        assert_eq!(world.journal.take(), ["1@0", "2@1000", "3@3000", "4@7000"]);
        assert_eq!(state.log, ["1:flaky"], "all attempts belong to one superstep");
    });
}

#[test]
fn exhausted_retries_fail_with_the_last_attempt() {
    let graph = graph_of(Policy::new().retry(Retry::attempts(3).backoff(SECOND).factor(1.0)));
    block_on(async {
        let world = world(9);
        let error = graph.run(Trace::input()).context(Arc::clone(&world)).await.unwrap_err();
        assert_eq!(failure(&error).to_string(), "node `flaky` failed in superstep 1, attempt 3");
        assert_eq!(failure(&error).error.to_string(), "attempt 3 fails");
        assert_eq!(world.journal.take(), ["1@0", "2@1000", "3@2000"]);
    });
}

#[test]
fn rerun_resets_the_retry_count_but_not_attempt_numbers() {
    let graph = graph_of(Policy::new().retry(Retry::attempts(2).backoff(SECOND)));
    block_on(async {
        let world = world(3);
        let mut run = graph.run(Trace::input()).context(Arc::clone(&world)).start().unwrap();
        let error = run.step().await.unwrap_err();
        assert_eq!(failure(&error).attempt, 2);
        while run.step().await.unwrap() {}
        assert_eq!(world.journal.take(), ["1@0", "2@1000", "3@1000", "4@2000"]);
    });
}

#[test]
fn nothing_is_retried_without_a_retry_policy() {
    for policy in [Policy::new(), Policy::new().no_retry(), Policy::new().retry(Retry::attempts(1))] {
        let graph = graph_of(policy);
        block_on(async {
            let world = world(1);
            let error = graph.run(Trace::input()).context(Arc::clone(&world)).await.unwrap_err();
            assert_eq!(failure(&error).attempt, 1);
        });
    }
}

#[test]
fn default_policy_applies_unless_the_node_overrides_it() {
    async fn other(_: &Trace, cx: &ContextWith<World>) -> Result<TraceUpdate> {
        if cx.attempt() == 1 {
            bail!("not yet");
        }
        Ok(ran(cx))
    }
    let twice = Policy::new().retry(Retry::attempts(2).backoff(SECOND)).timeout(SECOND);
    let graph = |policy| {
        StateGraph::<Trace>::with_context::<World>()
            .edge(START, flaky)
            .edge(flaky, other)
            .edge(other, END)
            .default_policy(twice.clone())
            .policy(flaky, policy)
            .compile()
            .unwrap()
    };
    let run = |policy| {
        block_on(async {
            graph(policy).run(Trace::input()).context(world(1)).await.map(|outcome| outcome.into_state().log)
        })
    };
    assert_eq!(
        run(Policy::new().no_timeout()).unwrap(),
        ["1:flaky", "2:other"],
        "the retry of the default policy applies"
    );
    assert_eq!(failure(&run(Policy::new().no_retry()).unwrap_err()).node, "flaky");
}

#[test]
fn first_matching_retry_policy_decides() {
    async fn fetch(_: &Trace, cx: &ContextWith<watch::Sender<Vec<u16>>>) -> Result<TraceUpdate> {
        let attempt = usize::try_from(cx.attempt()).unwrap();
        match cx.context().borrow().get(attempt - 1) {
            Some(0) => Err(Unread(Status(503)).into()),
            Some(1) => bail!("in words"),
            Some(2) => panic!("no"),
            Some(&status) => Err(Status(status).into()),
            None => Ok(ran(cx)),
        }
    }
    let graph = StateGraph::<Trace>::with_context::<watch::Sender<Vec<u16>>>()
        .edge(START, fetch)
        .edge(fetch, END)
        .policy(
            fetch,
            Policy::new()
                .retry(Retry::attempts(2).when(|status: &Status| status.0 == 429))
                .retry(Retry::attempts(4).when(|status: &Status| status.0 >= 500))
                .retry(Retry::attempts(2).when_failure(|failure| failure.panicked)),
        )
        .compile()
        .unwrap();
    let check = |answers: &[u16], expected: Result<(), u32>| {
        let run = graph.run(Trace::input()).context(watch::Sender::new(answers.to_vec()));
        let result = block_on(run).map(|_| ()).map_err(|error| failure(&error).attempt);
        assert_eq!(result, expected, "{answers:?}");
    };
    check(&[500, 501, 502], Ok(()));
    check(&[500, 501, 502, 503], Err(4));
    check(&[429], Ok(()));
    check(&[429, 429], Err(2));
    check(&[500, 500, 429], Err(3)); // All failures count towards the attempts.
    check(&[404], Err(1));
    check(&[0], Ok(())); // The condition also matches a cause.
    check(&[1], Err(1));
    check(&[2], Ok(()));
    check(&[2, 2], Err(2));
}

#[test]
fn panics_are_retried_only_on_request() {
    async fn panics(_: &Trace, cx: &Context) -> TraceUpdate {
        assert!(cx.attempt() > 1, "lost");
        ran(cx)
    }
    let graph = |retry| {
        let graph = StateGraph::<Trace>::new().edge(START, panics).edge(panics, END);
        graph.policy(panics, Policy::new().retry(retry)).compile().unwrap()
    };
    let error = block_on(graph(Retry::attempts(5)).run(Trace::input())).unwrap_err();
    assert_eq!((failure(&error).attempt, failure(&error).panicked), (1, true));
    let said = graph(Retry::attempts(5).when_failure(|failure| failure.panicked));
    assert_eq!(block_on(said.run(Trace::input())).unwrap().state().log, ["1:panics"]);
}

#[test]
fn panicking_policy_function_fails_the_node() {
    for retry in [
        Retry::attempts(3).when_failure(|_| panic!("which?")),
        Retry::attempts(3).jitter_by(|| panic!("which?")),
    ] {
        let graph = graph_of(Policy::new().retry(retry));
        let error = block_on(async { graph.run(Trace::input()).context(world(1)).await }).unwrap_err();
        assert_eq!(
            format!("{error:?}"),
            "graph `Trace`: node `flaky` failed in superstep 1, attempt 1\n  caused by: the node's retry policy panicked \
             (`which?`) while it examined this failure\n  caused by: attempt 1 fails"
        );
    }
}

#[test]
fn misuse_of_the_context_is_not_retried() {
    async fn twice(_: &Trace, cx: &Context) -> Result<TraceUpdate> {
        let _: u32 = cx.step("one", async { ok(1) }).await?;
        let _: u32 = cx.step("one", async { ok(1) }).await?;
        Ok(ran(cx))
    }
    let graph = StateGraph::<Trace>::new().edge(START, twice).edge(twice, END);
    let graph = graph.policy(twice, Policy::new().retry(Retry::attempts(3))).compile().unwrap();
    let error = block_on(graph.run(Trace::input())).unwrap_err();
    assert_eq!(failure(&error).attempt, 1);
}

#[test]
fn retry_repeats_no_question_and_no_step() {
    #[derive(Default)]
    struct Shop(crate::engine::trace::Journal);

    async fn pay(_: &Talk, cx: &ContextWith<Shop>) -> Result<TalkUpdate> {
        let receipt: u32 = cx
            .step("charge", async {
                cx.context().0.note("charge");
                ok(7)
            })
            .await?;
        let yes = cx.interrupt(approve("send")).await;
        let sent: u32 = cx
            .step("send", async {
                cx.context().0.note("send");
                ok(8)
            })
            .await?;
        cx.context().0.note(format!("attempt {}", cx.attempt()));
        if cx.attempt() < 3 {
            return Err(error("the printer is out of paper"));
        }
        Ok(heard(format!("{receipt} {yes} {sent}")))
    }
    let graph = StateGraph::<Talk>::with_context::<Shop>()
        .edge(START, pay)
        .edge(pay, END)
        .default_policy(Policy::new().retry(Retry::attempts(3)))
        .compile()
        .unwrap();
    block_on(async {
        let shop = Arc::new(Shop::default());
        let mut run = graph.run(Talk::input()).context(Arc::clone(&shop)).start().unwrap();
        while run.step().await.unwrap() {}
        let asked = run.pause().unwrap().only::<Approve>().unwrap();
        run.answer(asked.answer(true)).unwrap();
        assert_eq!(run.finish().await.unwrap().into_state().heard, ["7 true 8"]);
        assert_eq!(shop.0.take(), ["charge", "send", "attempt 1", "attempt 2", "attempt 3"]);
    });
}

/// The progress of the siblings.
#[derive(Default)]
struct Scene {
    first: watch::Sender<bool>,
    sibling: watch::Sender<bool>,
}

/// Fails once, then waits until its sibling has finished.
async fn patient(_: &Trace, cx: &ContextWith<Scene>) -> Result<TraceUpdate> {
    if cx.attempt() == 1 {
        cx.context().first.send_replace(true);
        bail!("not yet");
    }
    cx.context().sibling.subscribe().wait_for(|&over| over).await?;
    Ok(ran(cx))
}

async fn sibling(_: &Trace, cx: &ContextWith<Scene>) -> Result<TraceUpdate> {
    cx.context().first.subscribe().wait_for(|&failed| failed).await?;
    tokio::task::yield_now().await;
    cx.context().sibling.send_replace(true);
    Ok(ran(cx))
}

#[test]
fn siblings_continue_during_retries() {
    let graph = StateGraph::<Trace>::with_context::<Scene>()
        .edge(START, (patient, sibling))
        .edge(patient, END)
        .edge(sibling, END)
        .policy(patient, Policy::new().retry(Retry::attempts(2).backoff(Duration::from_millis(5))))
        .compile()
        .unwrap();
    let log = async || graph.run(Trace::input()).context(Scene::default()).await.unwrap().into_state().log;
    assert_eq!(block_on(log()), ["1:patient", "1:sibling"]);
    assert_eq!(workers(2).block_on(log()), ["1:patient", "1:sibling"]);
}

#[test]
fn stream_reports_every_retry() {
    let graph = graph_of(Policy::new().retry(Retry::attempts(3).backoff(SECOND)));
    block_on(async {
        let run = graph.run(Trace::input()).context(world(2)).events([StreamMode::Tasks]);
        let mut events = Vec::new();
        let outcome = run.stream().for_each(|event| {
            events.push(match &event.kind {
                EventKind::TaskRetry { attempt, error, wait, .. } => {
                    assert!(serde_json::to_string(&event).unwrap().contains(r#""type":"task_retry""#));
                    format!("{attempt}, {error}, {wait:?}")
                }
                kind => kind.name().to_owned(),
            });
        });
        outcome.await.unwrap();
        assert_eq!(
            events,
            [
                "task_started",
                "1, node `flaky` failed in superstep 1, attempt 1: attempt 1 fails, 1s",
                "2, node `flaky` failed in superstep 1, attempt 2: attempt 2 fails, 2s",
                "task_finished",
                "done"
            ]
        );
    });
}

#[test]
fn failure_mode_of_the_run_overrides_the_graph() {
    use superstep::FailureMode;

    async fn fails(_: &Trace) -> Result<TraceUpdate> {
        Err(error("no"))
    }
    async fn late(_: &Trace) -> Result<TraceUpdate> {
        tokio::time::sleep(SECOND).await;
        Err(error("no"))
    }
    let graph = StateGraph::<Trace>::new()
        .edge(START, (fails, late))
        .edge(fails, END)
        .edge(late, END)
        .on_failure(FailureMode::Collect)
        .compile()
        .unwrap();
    let error = block_on(graph.run(Trace::input())).unwrap_err();
    assert!(error.to_string().ends_with("attempt 1; `late` failed too"), "{error}");
    let fast = graph.run(Trace::input()).on_failure(FailureMode::FailFast);
    failure(&block_on(fast).unwrap_err());
}

#[derive(Debug, thiserror::Error)]
#[error("busy")]
struct Busy(Duration);

#[test]
fn error_decides_when_its_node_is_retried() {
    async fn busy(_: &Trace, cx: &ContextWith<World>) -> Result<TraceUpdate> {
        let world = cx.context();
        world.journal.note(format!("{}@{}", cx.attempt(), world.started.elapsed().as_millis()));
        match cx.attempt() {
            1 => Err(Busy(7 * SECOND).into()),
            2 => Err(Busy(SECOND / 2).into()),
            3 => bail!("another error"),
            _ => Err(Busy(61 * SECOND).into()),
        }
    }
    let retry =
        Retry::attempts(9).backoff(SECOND).max_backoff(60 * SECOND).wait_from(|busy: &Busy| Some(busy.0));
    let graph = StateGraph::<Trace>::with_context::<World>()
        .edge(START, busy)
        .edge(busy, END)
        .policy(busy, retry)
        .compile()
        .unwrap();
    block_on(async {
        let world = world(0);
        let error = graph.run(Trace::input()).context(Arc::clone(&world)).await.unwrap_err();
        assert_eq!(failure(&error).attempt, 4, "a wait longer than `max_backoff` ends the retries");
        assert_eq!(world.journal.take(), ["1@0", "2@7000", "3@9000", "4@13000"]);
    });
}
