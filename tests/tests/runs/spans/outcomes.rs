//! Outcomes in spans, which contain the type of an error but not its message.

use std::future::pending;

use superstep::policy::{Policy, Retry};
use superstep::run::Stop;
use superstep::{Context, END, FailureMode, GraphState, NodeError, START, StateGraph};
use tokio::time::{Duration, sleep, timeout};

use super::{Case, CaseUpdate, SECRET, fails, note, recorded};

async fn fine(case: &Case) -> CaseUpdate {
    note(case)
}

async fn panics(case: &Case) {
    panic!("the password is {}", case.secret)
}

async fn words(case: &Case) -> superstep::Result<()> {
    Err(NodeError::msg(case.secret.clone()))
}

async fn slow(case: &Case) -> CaseUpdate {
    sleep(Duration::from_secs(1)).await;
    note(case)
}

async fn stands_still(_: &Case) {
    pending().await
}

#[derive(GraphState, Clone, Debug)]
struct Small {
    #[state(validate(range(max = 3)), exclude)]
    number: u32,
}

async fn too_much(_: &Small) -> SmallUpdate {
    Small::update().number(4711)
}

#[test]
fn failure_records_its_type_without_its_message() {
    let tree = recorded(async {
        let graph = StateGraph::<Case>::new().edge(START, fails).edge(fails, END).compile().unwrap();
        graph.run(Case::input()).await.unwrap_err();
    });
    expect_test::expect![[r#"
        run run.begin=input supersteps=0 outcome=failed error.type=Node
          superstep step=1 tasks=1 outcome=failed error.type=Node
            node node=fails step=1 task=0 attempt=1 outcome=failed error.type=runs::spans::Leaky
    "#]]
    .assert_eq(&tree);
}

#[test]
fn collected_failures_and_panics_are_recorded_per_node() {
    let tree = recorded(async {
        let graph = StateGraph::<Case>::new()
            .edge(START, (panics, words, fine, fails))
            .join((panics, words, fine, fails), END);
        let graph = graph.compile().unwrap();
        graph.run(Case::input()).on_failure(FailureMode::Collect).await.unwrap_err();
    });
    expect_test::expect![[r#"
        run run.begin=input supersteps=0 outcome=failed error.type=Node
          superstep step=1 tasks=4 outcome=failed error.type=Node
            node node=panics step=1 task=0 attempt=1 outcome=panicked error.type=panic
            node node=words step=1 task=1 attempt=1 outcome=failed error.type=superstep::NodeError
            node node=fine step=1 task=2 attempt=1 outcome=ok
            node node=fails step=1 task=3 attempt=1 outcome=failed error.type=runs::spans::Leaky
    "#]]
    .assert_eq(&tree);
}

#[test]
fn stopped_siblings_are_recorded_as_cancelled() {
    let tree = recorded(async {
        let graph =
            StateGraph::<Case>::new().edge(START, (stands_still, fails)).join((stands_still, fails), END);
        graph.compile().unwrap().run(Case::input()).await.unwrap_err();
    });
    expect_test::expect![[r#"
        run run.begin=input supersteps=0 outcome=failed error.type=Node
          superstep step=1 tasks=2 outcome=failed error.type=Node
            node node=stands_still step=1 task=0 attempt=1 outcome=cancelled
            node node=fails step=1 task=1 attempt=1 outcome=failed error.type=runs::spans::Leaky
    "#]]
    .assert_eq(&tree);
}

#[test]
fn broken_rule_fails_the_superstep_span() {
    let tree = recorded(async {
        let graph = StateGraph::<Small>::new().edge(START, too_much).edge(too_much, END).compile().unwrap();
        graph.run(Small::input()).await.unwrap_err();
    });
    assert!(!tree.contains("4711"));
    expect_test::expect![[r#"
        run run.begin=input supersteps=0 outcome=failed error.type=Validation
          superstep step=1 tasks=1 outcome=failed error.type=Validation
            node node=too_much step=1 task=0 attempt=1 outcome=ok
    "#]]
    .assert_eq(&tree);
}

#[test]
fn dropped_run_closes_its_spans_as_cancelled() {
    let tree = recorded(async {
        let graph =
            StateGraph::<Case>::new().edge(START, fine).edge(fine, stands_still).edge(stands_still, END);
        let graph = graph.compile().unwrap();
        timeout(Duration::from_secs(1), graph.run(Case::input())).await.unwrap_err();
    });
    expect_test::expect![[r#"
        run run.begin=input supersteps=1 outcome=cancelled
          superstep step=1 tasks=1 outcome=done
            node node=fine step=1 task=0 attempt=1 outcome=ok
          superstep step=2 tasks=1 outcome=cancelled
            node node=stands_still step=2 task=0 attempt=1 outcome=cancelled
    "#]]
    .assert_eq(&tree);
}

#[test]
fn timed_out_superstep_fails_and_cancels_its_nodes() {
    let tree = recorded(async {
        let graph = StateGraph::<Case>::new().edge(START, stands_still).edge(stands_still, END);
        let run = graph.compile().unwrap().run(Case::input()).superstep_timeout(Duration::from_secs(1));
        run.await.unwrap_err();
    });
    expect_test::expect![[r#"
        run run.begin=input supersteps=0 outcome=failed error.type=SuperstepTimeout
          superstep step=1 tasks=1 outcome=failed error.type=SuperstepTimeout
            node node=stands_still step=1 task=0 attempt=1 outcome=cancelled
    "#]]
    .assert_eq(&tree);
}

#[test]
fn recursion_limit_fails_the_run_span_only() {
    let tree = recorded(async {
        let graph = StateGraph::<Case>::new().edge(START, fine).edge(fine, fine).compile().unwrap();
        graph.run(Case::input()).recursion_limit(1).await.unwrap_err();
    });
    expect_test::expect![[r#"
        run run.begin=input supersteps=1 outcome=failed error.type=RecursionLimit
          superstep step=1 tasks=1 outcome=done
            node node=fine step=1 task=0 attempt=1 outcome=ok
    "#]]
    .assert_eq(&tree);
}

async fn second_time(_: &Case, cx: &Context) -> superstep::Result<()> {
    if cx.attempt() == 1 { Err(NodeError::msg(SECRET)) } else { Ok(()) }
}

#[test]
fn continued_run_records_every_attempt() {
    let tree = recorded(async {
        let graph =
            StateGraph::<Case>::new().edge(START, second_time).edge(second_time, END).compile().unwrap();
        let mut run = graph.run(Case::input()).start().unwrap();
        run.step().await.unwrap_err();
        run.finish().await.unwrap();
    });
    expect_test::expect![[r#"
        run run.begin=input supersteps=1 outcome=done
          superstep step=1 tasks=1 outcome=failed error.type=Node
            node node=second_time step=1 task=0 attempt=1 outcome=failed error.type=superstep::NodeError
          superstep step=1 tasks=1 outcome=done
            node node=second_time step=1 task=0 attempt=2 outcome=ok
    "#]]
    .assert_eq(&tree);
}

#[test]
fn refused_input_is_recorded_as_a_failed_run() {
    let begins = |by_hand: bool| {
        recorded(async move {
            let graph = StateGraph::<Case>::new().edge(START, fine).edge(fine, END).compile().unwrap();
            let run = graph.run(Case::input()).max_concurrency(0);
            if by_hand {
                run.start().unwrap_err();
            } else {
                run.await.unwrap_err();
            }
        })
    };
    assert_eq!(begins(false), "run run.begin=input supersteps=0 outcome=failed error.type=Runtime\n");
    assert_eq!(begins(true), begins(false));
}

#[test]
fn stopped_runs_record_cancelled_or_interrupted() {
    let graph = || {
        let graph = StateGraph::<Case>::new().edge(START, slow).edge(slow, fine).edge(fine, END);
        graph.compile().unwrap()
    };
    let tree = recorded(async {
        let (stop, graph) = (Stop::new(), graph());
        let run = graph.run(Case::input()).stop_by(&stop);
        let (run, ()) = tokio::join!(run, async { stop.cancel() });
        run.unwrap_err();
        graph.run(Case::input()).stop_by(&stop).await.unwrap_err();
        graph.run(Case::input()).stop_by(&stop).start().unwrap_err();
    });
    expect_test::expect![[r#"
        run run.begin=input supersteps=0 outcome=cancelled
          superstep step=1 tasks=1 outcome=cancelled
            node node=slow step=1 task=0 attempt=1 outcome=cancelled
        run run.begin=input supersteps=0 outcome=cancelled
        run run.begin=input supersteps=0 outcome=cancelled
    "#]]
    .assert_eq(&tree);
    let tree = recorded(async {
        let (stop, graph) = (Stop::new(), graph());
        let run = graph.run(Case::input()).stop_by(&stop);
        let (run, ()) = tokio::join!(run, async { stop.drain() });
        run.unwrap();
    });
    expect_test::expect![[r#"
        run run.begin=input supersteps=1 outcome=interrupted
          superstep step=1 tasks=1 outcome=done
            node node=slow step=1 task=0 attempt=1 outcome=ok
    "#]]
    .assert_eq(&tree);
}

async fn third_time(case: &Case, cx: &Context) -> superstep::Result<CaseUpdate> {
    match cx.attempt() {
        1 => fails(case).await,
        2 => pending().await,
        _ => Ok(note(case)),
    }
}

#[test]
fn every_retry_attempt_has_a_span() {
    let tree = recorded(async {
        let policy = Policy::new().retry(Retry::attempts(3)).timeout(Duration::from_secs(1));
        let graph = StateGraph::<Case>::new().edge(START, third_time).edge(third_time, END);
        graph.policy(third_time, policy).compile().unwrap().run(Case::input()).await.unwrap();
    });
    expect_test::expect![[r#"
        run run.begin=input supersteps=1 outcome=done
          superstep step=1 tasks=1 outcome=done
            node node=third_time step=1 task=0 attempt=1 outcome=failed error.type=runs::spans::Leaky
            node node=third_time step=1 task=0 attempt=2 outcome=failed error.type=superstep::policy::TimedOut
            node node=third_time step=1 task=0 attempt=3 outcome=ok
    "#]]
    .assert_eq(&tree);
}
