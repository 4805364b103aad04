//! Errors of nodes whose text cannot be shown, is endless, or is long.

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use superstep::policy::{Policy, Retry};
use superstep::{Context, END, Graph, GraphState, NodeFailure, Result, START, StateGraph, bail};
use tests::stores::on_every_store;
use tokio::runtime::Builder;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Odd {
    /// `Display` returns an error.
    Fails,
    /// `Display` panics.
    Panics,
    /// It is its own cause.
    Cycle,
    /// Its text is very long.
    Long,
}

const ALL: [Odd; 4] = [Odd::Fails, Odd::Panics, Odd::Cycle, Odd::Long];

#[derive(Debug)]
struct OddError(Odd);

impl fmt::Display for OddError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("odd")?;
        match self.0 {
            Odd::Fails => Err(fmt::Error),
            Odd::Panics => panic!("no text"),
            Odd::Cycle => Ok(()),
            Odd::Long => (0..1 << 20).try_for_each(|n| write!(f, " {n}")),
        }
    }
}

impl StdError for OddError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        (self.0 == Odd::Cycle).then_some(self)
    }
}

#[derive(GraphState, Clone, Debug)]
struct Plan {
    #[state(input)]
    odd: u8,
    #[state(reducer = append)]
    log: Vec<String>,
}

impl Plan {
    fn error(&self) -> OddError {
        OddError(*ALL.get(usize::from(self.odd)).unwrap())
    }
}

fn say(text: &str) -> PlanUpdate {
    Plan::update().log([text.to_owned()])
}

async fn flaky(plan: &Plan, cx: &Context) -> Result<PlanUpdate> {
    if cx.attempt() == 1 {
        return Err(plan.error().into());
    }
    Ok(say("flaky"))
}

async fn beside(_: &Plan) -> PlanUpdate {
    say("beside")
}

async fn fails(plan: &Plan) -> Result<PlanUpdate> {
    Err(plan.error().into())
}

async fn rescue(_: &Plan, failure: &NodeFailure) -> PlanUpdate {
    assert!(failure.error.is::<OddError>());
    say("rescued")
}

async fn gives_up(_: &Plan, _: &NodeFailure) -> Result<PlanUpdate> {
    bail!("gave up");
}

fn retry() -> Policy {
    // No cause of the error is of this type.
    let never = |_: &fmt::Error| true;
    let retry = Retry::attempts(2).backoff(Duration::from_millis(1));
    Policy::new().retry(retry.clone().when::<fmt::Error>(never)).retry(retry)
}

/// A retried and a handled node: alone or next to a sibling.
fn continued(siblings: bool) -> StateGraph<Plan> {
    let graph = StateGraph::<Plan>::new().edge(START, flaky).edge(flaky, fails).edge(fails, END);
    let graph = if siblings { graph.edge(START, beside).edge(beside, END) } else { graph };
    graph.policy(flaky, retry()).on_error(fails, rescue)
}

fn graphs() -> Vec<(Graph<Plan>, &'static str)> {
    let inner = continued(true).compile().unwrap().as_node("inner");
    let outer = StateGraph::<Plan>::new().edge(START, &inner).edge(&inner, END).compile().unwrap();
    vec![
        (continued(false).compile().unwrap(), "flaky rescued"),
        (continued(true).compile().unwrap(), "flaky beside rescued"),
        (outer, "flaky beside rescued"),
    ]
}

/// Runs a test on both kinds of runtimes. A run that hangs fails.
fn on_both_runtimes(test: impl AsyncFn()) {
    for mut builder in [Builder::new_current_thread(), Builder::new_multi_thread()] {
        let runtime = builder.worker_threads(2).enable_all().build().unwrap();
        let limit = Duration::from_secs(60);
        runtime.block_on(async { tokio::time::timeout(limit, test()).await.expect("it hangs") });
    }
}

#[test]
fn odd_errors_are_retried_and_handled() {
    on_both_runtimes(async || {
        for (graph, log) in graphs() {
            for odd in 0..4 {
                let state = graph.run(Plan::input(odd)).await.unwrap().into_state();
                assert_eq!(state.log.join(" "), log);
                let outcome = graph.run(Plan::input(odd)).stream().for_each(|_| {}).await.unwrap();
                assert_eq!(outcome.state().log.join(" "), log);
                on_every_store(async |store| {
                    let outcome = store.thread(&graph).run(Plan::input(odd)).await.unwrap();
                    assert_eq!(outcome.state().log.join(" "), log);
                })
                .await;
            }
        }
    });
}

#[test]
fn odd_errors_are_stored_with_a_bounded_text() {
    let graph = StateGraph::<Plan>::new().edge(START, (fails, beside)).edge(fails, END).edge(beside, END);
    let plain = graph.compile().unwrap();
    let inner = plain.as_node("inner");
    let outer = StateGraph::<Plan>::new().edge(START, &inner).edge(&inner, END).compile().unwrap();
    let handled = StateGraph::<Plan>::new().edge(START, fails).edge(fails, END).on_error(fails, gives_up);
    let graphs = [plain, outer, handled.compile().unwrap()];
    on_both_runtimes(async || {
        for (graph, odd) in graphs.iter().flat_map(|graph| (0..4).map(move |odd| (graph, odd))) {
            on_every_store(async |store| {
                let error = store.thread(graph).run(Plan::input(odd)).await.unwrap_err();
                assert!(error.to_string().contains("node `"), "{error}");
                let text = format!("{error:?}");
                assert!(text.len() < 80_000 && text.contains("odd"), "{}: {text:.200}", text.len());
                let snapshot = store.thread(graph).state().await.unwrap().unwrap();
                let stored = snapshot.tasks.iter().find_map(|task| task.error.as_ref()).unwrap();
                assert!(stored.text.len() < 40_000 && stored.text.contains("odd"), "{:.200}", stored.text);
                let expected = match ALL.get(usize::from(odd)).unwrap() {
                    Odd::Fails => "its `Display` failed",
                    Odd::Panics => "its `Display` panicked: no text",
                    // The text of a handler's own failure has none of the causes of the failure that it handled.
                    Odd::Cycle if stored.text.contains("handler") => "failed with `odd`",
                    Odd::Cycle => "the causes repeat",
                    Odd::Long => "(cut off)",
                };
                assert!(stored.text.contains(expected), "{:.300}", stored.text);
            })
            .await;
        }
    });
}
