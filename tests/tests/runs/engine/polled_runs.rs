//! A run and an update are futures, which begin with their first poll.

use std::pin::Pin;
use std::task::{Context, Waker};

use superstep::checkpoint::MemoryCheckpointer;
use superstep::thread::as_node;
use superstep::{END, ErrorKind, Graph, GraphState, START, StateGraph};

use super::trace::block_on;

#[derive(GraphState, Clone)]
struct Sum {
    value: u64,
}

async fn first(sum: &Sum) -> SumUpdate {
    tokio::task::yield_now().await;
    Sum::update().value(sum.value + 1)
}

async fn second(sum: &Sum) -> SumUpdate {
    Sum::update().value(sum.value + 1)
}

fn graph() -> Graph<Sum> {
    StateGraph::<Sum>::new().edge(START, first).edge(first, second).edge(second, END).compile().unwrap()
}

/// Polls once, and fails unless the future is pending.
fn begin<F: Future + Unpin>(future: &mut F) {
    let mut cx = Context::from_waker(Waker::noop());
    assert!(Pin::new(future).poll(&mut cx).is_pending());
}

#[test]
fn a_run_that_has_begun_goes_on_when_it_is_awaited() {
    let mut run = graph().run(Sum::input().value(40));
    begin(&mut run);
    assert_eq!(block_on(run).unwrap().state().value, 42);
}

#[test]
fn options_have_no_effect_after_the_first_poll() {
    let mut run = graph().run(Sum::input());
    begin(&mut run);
    assert_eq!(block_on(run.recursion_limit(1)).unwrap().state().value, 2);
}

#[test]
fn a_stream_of_a_run_that_has_begun_returns_the_outcome_alone() {
    let mut run = graph().run(Sum::input());
    begin(&mut run);
    let mut events = 0;
    let outcome = block_on(run.stream().for_each(|_| events += 1)).unwrap();
    assert_eq!((outcome.state().value, events), (2, 1));
}

#[test]
fn a_run_that_has_begun_cannot_be_stepped_by_hand() {
    let mut run = graph().run(Sum::input());
    begin(&mut run);
    let error = run.start().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Runtime(_)), "{error}");
    assert!(error.to_string().contains("has begun with its first poll"), "{error}");
}

#[test]
fn a_poll_after_the_end_is_an_error() {
    let mut run = graph().run(Sum::input());
    block_on(&mut run).unwrap();
    let error = block_on(&mut run).unwrap_err();
    assert!(error.to_string().contains("was polled after its end"), "{error}");
    let error = block_on(run.stream().for_each(|_| {})).unwrap_err();
    assert!(error.to_string().contains("was polled after its end"), "{error}");
}

#[test]
fn an_update_is_written_once() {
    let thread = graph().with_checkpointer(MemoryCheckpointer::new()).thread("one");
    let mut update = thread.update(Sum::update().value(7), as_node(START));
    block_on(&mut update).unwrap();
    let error = block_on(&mut update).unwrap_err();
    assert!(error.to_string().contains("was polled after its end"), "{error}");
    assert_eq!(block_on(thread.history().into_future()).unwrap().len(), 1);
}

#[test]
fn nothing_begins_without_a_poll() {
    let thread = graph().with_checkpointer(MemoryCheckpointer::new()).thread("one");
    drop(thread.run(Sum::input()).run_id("a"));
    drop(thread.update(Sum::update().value(7), as_node(START)));
    assert!(block_on(thread.state()).unwrap().is_none());
}

#[test]
fn a_run_can_be_polled_where_it_is_spawned() {
    let outcome = tokio::runtime::Builder::new_multi_thread().build().unwrap().block_on(async {
        let mut runs = tokio::task::JoinSet::new();
        runs.spawn(graph().run(Sum::input().value(1)));
        runs.spawn(graph().run(Sum::input().value(1)));
        runs.join_all().await
    });
    assert!(outcome.into_iter().all(|outcome| outcome.unwrap().state().value == 3));
}
