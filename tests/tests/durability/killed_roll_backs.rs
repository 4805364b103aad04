//! Processes that are killed while they roll a thread back: all of it is rolled back, or nothing.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use superstep::checkpoint::CheckpointId;
use superstep::interrupt::Question;
use superstep::thread::{PersistentGraph, Thread};
use superstep::{ContextWith, Durability, END, Graph, NodeError, Outcome, START};
use superstep_sqlite::Synchronous;
use tests::story::{Probe, Story, StoryUpdate, begin, log_of, recording_nodes, say, story};

use crate::processes::{ChildProcess, ProcessKiller, kill_until, scaled};

recording_nodes! { open sibling close print }

const ROUNDS: u64 = 4;

#[derive(Serialize, Deserialize)]
struct Go;

impl Question for Go {
    type Answer = bool;
}

async fn ask(_: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
    Ok(say(format!("ask {}", cx.interrupt(Go).await)))
}

fn graph() -> Graph<Story, Probe> {
    let deep = story().edge(START, ask).edge(ask, close).edge(close, END).compile().unwrap().as_node("deep");
    let call = story().edge(START, open).edge(open, &deep).edge(&deep, END).compile().unwrap();
    let call = call.as_node("call");
    let graph = story().edge(START, (&call, sibling)).edge(&call, print).edge(sibling, END).edge(print, END);
    graph.compile().unwrap()
}

const END_LOG: &str = "in open ask true close sibling print";

/// Answers every question, until the thread has ended.
async fn finish(thread: &Thread<Story, Probe>, durability: Durability) -> Story {
    let resume = async |answers: Vec<_>| {
        let run = thread.resume(answers).durability(durability);
        run.context(Arc::<Probe>::default()).await.unwrap()
    };
    let mut outcome = resume(Vec::new()).await;
    while let Outcome::Interrupted(pause) = &outcome {
        let open = pause.interrupts().iter();
        outcome = resume(open.map(|open| open.answer_json(true.into())).collect()).await;
    }
    outcome.into_state()
}

/// Returns the checkpoint that made the call, in which the thread asks.
async fn asked(thread: &Thread<Story, Probe>) -> CheckpointId {
    thread.history().await.unwrap().iter().find(|at| at.step == 0).unwrap().id
}

/// Does nothing on its own. In a process started by [`ProcessKiller`], ends the thread and rolls it back, several times.
#[test]
fn child_process() {
    let Some(child) = ChildProcess::from_env() else { return };
    let store = child.store(Synchronous::Normal);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let thread = graph().with_checkpointer(store).thread("t");
        let durability =
            [Durability::Sync, Durability::Async, Durability::Exit][usize::try_from(child.how).unwrap()];
        let run = thread.run(begin("in")).run_id("once").durability(durability);
        run.context(Arc::<Probe>::default()).await.unwrap();
        for _ in 0..ROUNDS {
            let target = asked(&thread).await;
            assert_eq!(log_of(&finish(&thread, durability).await), END_LOG);
            child.journal.record("ended");
            thread.roll_back_to(target).await.unwrap();
            child.journal.record("rolled back");
        }
    });
    child.journal.record("done");
}

async fn assert_whole(graph: &PersistentGraph<Story, Probe>, last: Option<&str>, about: &str) {
    let thread = graph.thread("t");
    let Some(head) = thread.state().await.unwrap() else { return };
    assert!(last != Some("rolled back") || !head.is_finished(), "the roll back was durable: {about}");
    thread.copy("copy").await.unwrap();
    let copy = graph.thread("copy");
    if !head.next.iter().any(|next| &**next == "print") && !head.is_finished() {
        copy.roll_back_to(asked(&copy).await).await.unwrap();
    }
    assert_eq!(log_of(&finish(&copy, Durability::Async).await), END_LOG, "{about}");
    copy.delete().await.unwrap();
}

/// Kills the processes of one thread until the last one is done. Returns the number of kills.
fn kill_until_done(seed: u64) -> usize {
    let mut killer = ProcessKiller::new("killed_roll_backs::child_process", seed);
    let how = killer.rng.below(3);
    let mut kills = 0;
    loop {
        let ended = killer.kill(how, 60);
        let about = format!("seed {seed}, {how}: {:#?}", killer.lines);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let graph = graph().with_checkpointer(killer.store());
        runtime.block_on(assert_whole(&graph, killer.lines.last().map(String::as_str), &about));
        if ended {
            return kills;
        }
        kills += 1;
    }
}

/// 20 kills, or 200 with `LONG=1`.
#[test]
fn killed_roll_back_is_whole_or_nothing() {
    kill_until(scaled(20), kill_until_done);
}
