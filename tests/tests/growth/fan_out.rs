//! A graph with a fan-out of any width, and threads at interesting points of it.

use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::thread::{PersistentGraph, Thread};
use superstep::{Context, END, FailureMode, Graph, GraphState, NodeError, Route, START, StateGraph};

use super::measure::Sample;

#[derive(GraphState, Clone, Debug)]
pub(crate) struct Fan {
    #[state(input)]
    pub(crate) width: usize,
    #[state(reducer = append)]
    pub(crate) done: Vec<usize>,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Approve;

impl Question for Approve {
    type Answer = bool;
}

/// The same question in another version.
pub(crate) mod newer {
    use serde_json::Value;
    use superstep::interrupt::MigratedJson;

    use super::*;

    #[derive(Serialize, Deserialize)]
    pub(crate) struct Approve;

    impl Question for Approve {
        type Answer = bool;
        const VERSION: u32 = 1;

        fn migrate(_: u32, question: Value) -> MigratedJson {
            Ok(question)
        }

        fn migrate_answer(_: u32, answer: Value) -> MigratedJson {
            Ok(answer)
        }
    }
}

/// Defines a graph that sends a packet to a node for each task.
macro_rules! fan_outs {
    ($($(#[$attr:meta])* $name:ident($item:ident, $cx:ident) $body:block)+) => {$(
        $(#[$attr])*
        pub(crate) mod $name {
            use super::*;

            #[derive(Route)]
            pub(crate) enum Each {
                #[to(work)]
                Work(usize),
            }

            async fn split(fan: &Fan) -> Vec<Each> {
                (0..fan.width).map(Each::Work).collect()
            }

            pub(crate) async fn work(_: &Fan, $item: &usize, $cx: &Context) -> Result<FanUpdate, NodeError> {
                $body
                Ok(Fan::update().done([*$item]))
            }

            pub(crate) fn graph() -> Graph<Fan> {
                StateGraph::<Fan>::new().edge(START, split).edge(work, END).compile().unwrap()
            }

            pub(crate) fn stored(at: &Sample) -> PersistentGraph<Fan> {
                graph().with_checkpointer(at.store())
            }
        }
    )+};
}

fan_outs! {
    /// Tasks that are ready at once.
    ready(item, _cx) {}
    /// Tasks that all wait at the same time.
    yielding(item, _cx) {
        for _ in 0..2 {
            tokio::task::yield_now().await;
        }
    }
    /// Tasks that ask a question.
    asking(item, cx) {
        let _: bool = cx.interrupt(Approve).await;
    }
    /// The same tasks in another version.
    asking_newer(item, cx) {
        let _: bool = cx.interrupt(newer::Approve).await;
    }
    /// Tasks of which the last fails at its first attempt.
    failing(item, cx) {
        if *item == 0 && cx.attempt() == 1 {
            return Err(NodeError::msg("the first attempt of the first task fails"));
        }
    }
    /// Tasks that all fail.
    all_failing(item, _cx) {
        if *item < usize::MAX {
            return Err(NodeError::msg("every task fails"));
        }
    }
    /// Tasks with a durable step.
    stepping(item, cx) {
        cx.step("step", async { Ok::<_, NodeError>(*item) }).await?;
    }
    /// Tasks that sleep for an hour.
    sleeping(item, cx) {
        cx.sleep(std::time::Duration::from_secs(3_600)).await;
    }
    /// Tasks that sleep for a moment.
    napping(item, cx) {
        cx.sleep(std::time::Duration::from_millis(1)).await;
    }
    /// Tasks that emit events.
    emitting(item, cx) {
        cx.emit(*item).await;
        tokio::task::yield_now().await;
        cx.token(superstep::messages::MessageChunk::text("word")).await;
    }
}

/// A thread that has planned `n` packets and run none of them.
pub(crate) async fn planned(at: &Sample) -> Thread<Fan> {
    let thread = ready::stored(at).thread("t");
    thread.run(Fan::input(at.n)).interrupt_before(ready::work).await.unwrap();
    thread
}

/// A thread of whose `n` tasks one has failed, and the others have stored results.
pub(crate) async fn half_finished(at: &Sample) -> Thread<Fan> {
    let thread = failing::stored(at).thread("t");
    thread.run(Fan::input(at.n)).on_failure(FailureMode::Collect).await.unwrap_err();
    thread
}

/// A thread with `n` open interrupts.
pub(crate) async fn asked(at: &Sample) -> Thread<Fan> {
    let thread = asking::stored(at).thread("t");
    thread.run(Fan::input(at.n)).await.unwrap();
    thread
}

/// Tasks of which the first half fails at its first attempt, and waits at its second.
pub(crate) mod half_failing {
    use super::*;

    #[derive(Route)]
    pub(crate) enum Each {
        #[to(work)]
        Work((usize, bool)),
    }

    async fn split(fan: &Fan) -> Vec<Each> {
        (0..fan.width).map(|item| Each::Work((item, item < fan.width / 2))).collect()
    }

    async fn work(_: &Fan, item: &(usize, bool), cx: &Context) -> Result<FanUpdate, NodeError> {
        if item.1 {
            if cx.attempt() == 1 {
                return Err(NodeError::msg("the first attempt fails"));
            }
            tokio::task::yield_now().await;
        }
        Ok(Fan::update().done([item.0]))
    }

    pub(crate) fn graph() -> Graph<Fan> {
        StateGraph::<Fan>::new().edge(START, split).edge(work, END).compile().unwrap()
    }
}
