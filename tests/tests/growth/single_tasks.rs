//! One task with many questions, durable steps or sleeps.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::json;
use superstep::interrupt::{Answer, Interrupt};
use superstep::thread::Thread;
use superstep::{Context, END, GraphState, NodeError, START, StateGraph};

use super::fan_out::Approve;
use super::growth;

#[derive(GraphState, Clone, Debug)]
struct Work {
    #[state(input)]
    n: usize,
    #[state(reducer = add)]
    done: usize,
}

async fn asks(work: &Work, cx: &Context) -> WorkUpdate {
    let mut open: Vec<Option<Interrupt<'_, bool>>> =
        (0..work.n).map(|_| Some(cx.interrupt(Approve))).collect();
    // Polls each question until it is answered.
    poll_fn(|poll| {
        for slot in &mut open {
            if slot.as_mut().is_some_and(|open| Pin::new(open).poll(poll).is_ready()) {
                *slot = None;
            }
        }
        if open.iter().all(Option::is_none) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    Work::update().done(work.n)
}

async fn steps(work: &Work, cx: &Context) -> Result<WorkUpdate, NodeError> {
    for step in 0..work.n {
        cx.step(&step.to_string(), async { Ok::<_, NodeError>(()) }).await?;
    }
    let _: bool = cx.interrupt(Approve).await;
    Ok(Work::update().done(work.n))
}

async fn steps_at_once(work: &Work, cx: &Context) -> Result<WorkUpdate, NodeError> {
    let names: Vec<String> = (0..work.n).map(|step| step.to_string()).collect();
    cx.steps(names.iter().map(|name| cx.step(name, async { Ok::<_, NodeError>(()) }))).await?;
    Ok(Work::update().done(work.n))
}

async fn sleeps(work: &Work, cx: &Context) -> WorkUpdate {
    for _ in 0..work.n {
        cx.sleep(Duration::ZERO).await;
    }
    Work::update().done(work.n)
}

/// Sleeps many times, and waits for an answer after them.
async fn sleeps_and_asks(work: &Work, cx: &Context) -> WorkUpdate {
    let update = sleeps(work, cx).await;
    let _: bool = cx.interrupt(Approve).await;
    update
}

/// Asks many questions that expire at different times, and sleeps many times after their answers.
async fn asks_and_sleeps(work: &Work, cx: &Context) -> WorkUpdate {
    let hour = Duration::from_secs(3600);
    let questions = (0..work.n).map(|n| cx.interrupt(Approve).within(hour + Duration::from_secs(n as u64)));
    let _: Vec<Option<bool>> = join_all(questions).await;
    sleeps(work, cx).await
}

async fn emits(work: &Work, cx: &Context) -> WorkUpdate {
    for event in 0..work.n {
        cx.emit(event).await;
    }
    Work::update().done(work.n)
}

/// A thread of a graph with one node.
macro_rules! thread {
    ($at:ident, $node:ident) => {
        StateGraph::<Work>::new()
            .edge(START, $node)
            .edge($node, END)
            .compile()
            .unwrap()
            .with_checkpointer($at.store())
            .thread("t")
    };
}

async fn answers(thread: &Thread<Work>) -> Vec<Answer> {
    let open = thread.interrupts().await.unwrap();
    open.interrupts().iter().map(|open| open.answer_json(json!(true))).collect()
}

growth! {
    questions_of_one_task: Both, 2_000 => async |at| {
        let thread = thread!(at, asks);
        at.cost(async { thread.run(Work::input(at.n)).await.unwrap() }).await;
    };
    answers_of_one_task: Both, 2_000 => async |at| {
        let thread = thread!(at, asks);
        thread.run(Work::input(at.n)).await.unwrap();
        let answers = answers(&thread).await;
        let outcome = at.cost(async { thread.resume(answers).await.unwrap() }).await;
        assert_eq!(outcome.state().done, at.n);
    };
    open_interrupts_of_one_task: Stores, 2_000 => async |at| {
        let thread = thread!(at, asks);
        thread.run(Work::input(at.n)).await.unwrap();
        at.cost(async { thread.state().await.unwrap() }).await;
    };
    steps_of_one_task: Both, 200 => async |at| {
        let thread = thread!(at, steps);
        at.cost(async { thread.run(Work::input(at.n)).await.unwrap() }).await;
    };
    steps_at_once_of_one_task: Both, 2_000 => async |at| {
        let thread = thread!(at, steps_at_once);
        at.cost(async { thread.run(Work::input(at.n)).await.unwrap() }).await;
    };
    resume_after_many_steps: Both, 500 => async |at| {
        let thread = thread!(at, steps);
        thread.run(Work::input(at.n)).await.unwrap();
        let answers = answers(&thread).await;
        at.cost(async { thread.resume(answers).await.unwrap() }).await;
    };
    sleeps_of_one_task: Both, 200 => async |at| {
        let thread = thread!(at, sleeps);
        at.cost(async { thread.run(Work::input(at.n)).await.unwrap() }).await;
    };
    resume_after_many_sleeps: Both, 200 => async |at| {
        let thread = thread!(at, sleeps_and_asks);
        thread.run(Work::input(at.n)).await.unwrap();
        let answers = answers(&thread).await;
        at.cost(async { thread.resume(answers).await.unwrap() }).await;
    };
    answers_and_timers_of_one_task: Both, 150 => async |at| {
        let thread = thread!(at, asks_and_sleeps);
        thread.run(Work::input(at.n)).await.unwrap();
        let answers = answers(&thread).await;
        let outcome = at.cost(async { thread.resume(answers).await.unwrap() }).await;
        assert_eq!(outcome.state().done, at.n);
    };
    events_of_one_task: Both, 10_000 => async |at| {
        let thread = thread!(at, emits);
        let stream = thread.run(Work::input(at.n)).stream();
        at.cost(async { stream.for_each(|_| ()).await.unwrap() }).await;
    };
}
