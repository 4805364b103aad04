//! Supersteps: planned tasks read the same state, and their writes are applied together.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use superstep::{Context, ContextWith, END, Route, START, StateGraph};
use tokio::sync::watch;

use crate::engine::trace::{Journal, Trace, TraceUpdate, block_on, log_of, nodes, say, workers};

nodes! { a b c d e }

async fn looks(state: &Trace, cx: &Context) -> TraceUpdate {
    say(format!("{} sees {} {}", cx.node(), state.log.len(), state.value)).value(7)
}

async fn looks_too(state: &Trace, cx: &Context) -> TraceUpdate {
    say(format!("{} sees {} {}", cx.node(), state.log.len(), state.value))
}

#[test]
fn siblings_read_the_state_before_the_superstep() {
    let graph = StateGraph::<Trace>::new()
        .edge(START, a)
        .edge(a, (looks, looks_too))
        .edge(looks, b)
        .edge(looks_too, END)
        .edge(b, END)
        .compile()
        .unwrap();
    assert_eq!(log_of(&graph), "1:a looks sees 1 0 looks_too sees 1 0 3:b");
}

#[test]
fn writes_are_invisible_during_their_superstep() {
    async fn first(_: &Trace, cx: &ContextWith<watch::Sender<bool>>) -> TraceUpdate {
        cx.context().send_replace(true);
        say("first")
    }
    async fn second(state: &Trace, cx: &ContextWith<watch::Sender<bool>>) -> TraceUpdate {
        let before = state.log.len();
        cx.context().subscribe().wait_for(|&first| first).await.unwrap();
        // `first` has now returned.
        tokio::task::yield_now().await;
        say(format!("second {before} {}", state.log.len()))
    }
    let graph = StateGraph::<Trace>::with_context::<watch::Sender<bool>>()
        .edge(START, (second, first))
        .edge(first, END)
        .edge(second, END)
        .compile()
        .unwrap();
    let run = || graph.run(Trace::input()).context(watch::Sender::new(false));
    assert_eq!(block_on(run()).unwrap().state().log, ["second 0 0", "first"]);
    assert_eq!(workers(2).block_on(run()).unwrap().state().log, ["second 0 0", "first"]);
}

#[test]
fn several_edges_run_a_node_once_per_superstep() {
    let graph = StateGraph::<Trace>::new()
        .edge(START, (a, b, c))
        .edge(a, d)
        .edge(b, d)
        .edge(c, e)
        .edge(e, d)
        .edge(d, END)
        .compile()
        .unwrap();
    // `a` and `b` plan `d` once for superstep 2; the longer branch plans it again for superstep 3.
    assert_eq!(log_of(&graph), "1:a 1:b 1:c 2:d 2:e 3:d");
}

#[test]
fn duplicate_edges_count_once() {
    let graph = StateGraph::<Trace>::new().edge(START, a).edge(START, (a, a)).edge(a, END).compile().unwrap();
    assert_eq!(log_of(&graph), "1:a");
}

#[test]
fn end_finishes_only_its_branch() {
    let graph = StateGraph::<Trace>::new()
        .edge(START, (a, b))
        .edge(a, END)
        .edge(b, (c, END))
        .edge(c, END)
        .compile()
        .unwrap();
    assert_eq!(log_of(&graph), "1:a 1:b 2:c");
}

#[derive(Serialize, Deserialize)]
struct Job(u32);

#[derive(Route)]
enum Deal {
    #[to(work)]
    Work(Job),
    #[to(b, a)]
    Plain,
}

async fn deal() -> Vec<Deal> {
    vec![Deal::Work(Job(3)), Deal::Plain, Deal::Work(Job(1)), Deal::Work(Job(2)), Deal::Plain]
}

async fn deal_too() -> (TraceUpdate, Vec<Deal>) {
    (say("dealt"), vec![Deal::Work(Job(3)), Deal::Plain])
}

async fn work(job: &Job, cx: &Context) -> TraceUpdate {
    say(format!("{}:{}", cx.node(), job.0))
}

#[test]
fn packet_tasks_run_after_edge_tasks_in_order() {
    let graph = StateGraph::<Trace>::new()
        .edge(START, (deal_too, deal))
        .edge(a, END)
        .edge(b, END)
        .edge(work, c)
        .edge(c, END)
        .compile()
        .unwrap();
    // The registration order is deal_too, deal, a, b. Every packet is a task, even equal ones; `c` runs once after them.
    assert_eq!(log_of(&graph), "dealt 2:a 2:b work:3 work:3 work:1 work:2 3:c");
    let mut run = graph.run(Trace::input()).start().unwrap();
    assert_eq!(run.next(), ["deal_too", "deal"]);
    assert!(block_on(run.step()).unwrap());
    assert_eq!(run.next(), ["a", "b", "work", "work", "work", "work"]);
}

#[test]
fn run_ends_when_nothing_is_planned() {
    let graph = StateGraph::<Trace>::new().edge(START, a).edge(a, END).compile().unwrap();
    let mut run = graph.run(Trace::input()).start().unwrap();
    assert_eq!((run.superstep(), run.next()), (0, vec!["a"]));
    assert!(block_on(run.step()).unwrap());
    assert_eq!((run.superstep(), run.next()), (1, vec![]));
    assert!(!block_on(run.step()).unwrap());
    assert!(!block_on(run.step()).unwrap());
    assert_eq!((run.superstep(), run.state().log.as_slice()), (1, &["1:a".to_owned()][..]));
}

#[test]
fn context_reports_node_superstep_attempt_and_metadata() {
    async fn asks(_: &Trace, cx: &ContextWith<Journal>) -> TraceUpdate {
        cx.context().note(format!("{} {} {} {}", cx.node(), cx.superstep(), cx.attempt(), cx.is_observed()));
        cx.context().note(cx.metadata()["user"].to_string());
        TraceUpdate::default()
    }
    let graph =
        StateGraph::<Trace>::with_context::<Journal>().edge(START, asks).edge(asks, END).compile().unwrap();
    let journal = Arc::new(Journal::default());
    block_on(graph.run(Trace::input()).context(Arc::clone(&journal)).metadata("user", "ann")).unwrap();
    assert_eq!(journal.take(), ["asks 1 1 false", "\"ann\""]);
}
