//! A dropped step of a stepped run: the questions of the tasks that had not ended stay open.

use std::pin::pin;
use std::task::{Context as PollContext, Waker};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use superstep::checkpoint::MemoryCheckpointer;
use superstep::interrupt::Question;
use superstep::run::Stepper;
use superstep::{Context, END, Graph, GraphState, START, StateGraph};
use tokio::runtime::Builder;
use tokio::task::yield_now;
use tokio::time::advance;

#[derive(GraphState, Clone, Debug)]
struct Talk {
    #[state(reducer = append)]
    heard: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct Sure(String);

impl Question for Sure {
    type Answer = bool;
}

/// Waits a few polls before its question and after its answer.
async fn ask(cx: &Context) -> TalkUpdate {
    pause().await;
    let name = cx.node().to_owned();
    let sure = cx.interrupt(Sure(name.clone())).await;
    pause().await;
    Talk::update().heard([format!("{name} {sure}")])
}

async fn pause() {
    for _ in 0..3 {
        yield_now().await;
    }
}

async fn ann(_: &Talk, cx: &Context) -> TalkUpdate {
    ask(cx).await
}

async fn bob(_: &Talk, cx: &Context) -> TalkUpdate {
    ask(cx).await
}

async fn zoe(_: &Talk) -> TalkUpdate {
    Talk::update().heard(["zoe".to_owned()])
}

fn alone() -> Graph<Talk> {
    StateGraph::<Talk>::new().edge(START, ann).edge(ann, END).compile().unwrap()
}

fn several() -> Graph<Talk> {
    let graph = StateGraph::<Talk>::new().edge(START, (ann, bob, zoe));
    graph.edge(ann, END).edge(bob, END).edge(zoe, END).compile().unwrap()
}

/// The names in the open questions.
fn open(run: &Stepper<Talk>) -> Vec<String> {
    let pause = run.pause();
    let asked = pause.iter().flat_map(|pause| pause.all::<Sure>().unwrap());
    asked.map(|asked| asked.0.clone()).collect()
}

fn answer(run: &mut Stepper<Talk>, name: &str) {
    let asked = run.pause().unwrap().all::<Sure>().unwrap();
    let asked = asked.into_iter().find(|asked| asked.0 == name).unwrap();
    run.answer([asked.answer(true)]).unwrap();
}

/// Polls a step this number of times, and drops it.
async fn drop_step(run: &mut Stepper<Talk>, polls: usize) {
    let mut step = pin!(run.step());
    for _ in 0..polls {
        if step.as_mut().poll(&mut PollContext::from_waker(Waker::noop())).is_ready() {
            return;
        }
        // Tasks on other threads may run on.
        yield_now().await;
    }
}

/// Drops steps of a run before and after each answer.
async fn drop_steps(mut run: Stepper<Talk>, names: &[&str]) -> Talk {
    while run.step().await.unwrap() {}
    for at in 0..names.len() {
        for polls in 0..4 {
            drop_step(&mut run, polls).await;
            assert_eq!(open(&run), names[at..], "after {at} answers and {polls} polls");
        }
        answer(&mut run, names[at]);
    }
    drop_step(&mut run, 2).await;
    assert!(run.pause().is_none());
    run.finish().await.unwrap().into_state()
}

/// Drops steps in memory and on a thread, on one and on two workers.
fn check(graph: &Graph<Talk>, names: &[&str], heard: &[&str]) {
    for mut runtime in [Builder::new_current_thread(), Builder::new_multi_thread()] {
        runtime.worker_threads(2).build().unwrap().block_on(async {
            let run = graph.run(Talk::input()).start().unwrap();
            assert_eq!(drop_steps(run, names).await.heard, heard);
            let thread = graph.with_checkpointer(MemoryCheckpointer::new()).thread("t");
            let run = thread.run(Talk::input()).start().await.unwrap().unwrap();
            assert_eq!(drop_steps(run, names).await.heard, heard);
            assert_eq!(thread.state().await.unwrap().unwrap().state.unwrap().heard, heard);
        });
    }
}

#[test]
fn questions_of_a_single_task_stay_open() {
    check(&alone(), &["ann"], &["ann true"]);
}

#[test]
fn questions_of_sibling_tasks_stay_open() {
    check(&several(), &["ann", "bob"], &["ann true", "bob true", "zoe"]);
}

#[test]
fn questions_inside_a_subgraph_stay_open() {
    let inner = several().as_node("inner");
    let graph = StateGraph::<Talk>::new().edge(START, &inner).edge(&inner, END).compile().unwrap();
    check(&graph, &["ann", "bob"], &["ann true", "bob true", "zoe"]);
}

#[tokio::test(start_paused = true)]
async fn expired_question_does_not_stay_open() {
    async fn patient(_: &Talk, cx: &Context) -> TalkUpdate {
        let sure = cx.interrupt(Sure("patient".to_owned())).within(Duration::from_secs(5)).await;
        pause().await;
        Talk::update().heard([format!("{sure:?}")])
    }
    let graph = StateGraph::<Talk>::new().edge(START, patient).edge(patient, END).compile().unwrap();
    let mut run = graph.run(Talk::input()).start().unwrap();
    while run.step().await.unwrap() {}
    assert_eq!(open(&run), ["patient"]);
    advance(Duration::from_secs(6)).await;
    drop_step(&mut run, 2).await;
    assert!(run.pause().is_none());
    assert_eq!(run.finish().await.unwrap().into_state().heard, ["None"]);
}
