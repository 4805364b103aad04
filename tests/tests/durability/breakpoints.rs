//! Every prefix of the writes of a run with breakpoints stops at each breakpoint whose pause is not stored, and at no
//! other.

use superstep::thread::Thread;
use superstep::{Durability, END, Graph, GraphState, Outcome, Route, START, StateGraph};

use crate::job::has_no_thread;
use crate::prefixes::{each_prefix, recording_store};

#[derive(GraphState, Clone, Debug, PartialEq)]
struct Walk {
    #[state(reducer = append)]
    log: Vec<String>,
}

async fn pack(_: &Walk) -> WalkUpdate {
    Walk::update().log(["pack".to_owned()])
}

async fn left(_: &Walk) -> WalkUpdate {
    Walk::update().log(["left".to_owned()])
}

async fn right(_: &Walk) -> WalkUpdate {
    Walk::update().log(["right".to_owned()])
}

#[derive(Route)]
enum Then {
    #[to(pack)]
    Again,
    #[to(END)]
    Home,
}

async fn rest(walk: &Walk) -> (WalkUpdate, Then) {
    let then = if walk.log.len() < 5 { Then::Again } else { Then::Home };
    (Walk::update().log(["rest".to_owned()]), then)
}

/// Two rounds, with a breakpoint before `left` and breakpoints after all other nodes.
fn graph() -> Graph<Walk> {
    StateGraph::<Walk>::new()
        .edge(START, pack)
        .edge(pack, (left, right))
        .join((left, right), rest)
        .interrupt_before(left)
        .interrupt_after(pack)
        .interrupt_after(right)
        .interrupt_after(rest)
        .compile()
        .unwrap()
}

/// The pauses of the walk: the length of the log, and the nodes with breakpoints before and after.
const PAUSES: [&str; 5] = ["1 left pack", "3  right", "4  rest", "5 left pack", "7  right"];

fn describe(lines: usize, before: &[String], after: &[String]) -> String {
    format!("{lines} {} {}", before.join(","), after.join(","))
}

/// Resumes until the end. Returns the pauses.
async fn pauses_until_end(thread: &Thread<Walk>, durability: Durability) -> Vec<String> {
    let mut pauses = Vec::new();
    loop {
        let outcome = match thread.resume(()).durability(durability).await {
            Err(error) if has_no_thread(&error) => {
                thread.run(Walk::input()).durability(durability).await.unwrap()
            }
            resumed => resumed.unwrap(),
        };
        match outcome {
            Outcome::Done(walk) => {
                assert_eq!(walk.log.join(" "), "pack left right rest pack left right rest");
                return pauses;
            }
            Outcome::Interrupted(pause) => {
                pauses.push(describe(pause.state().log.len(), pause.before(), pause.after()));
            }
        }
    }
}

#[tokio::test]
async fn breakpoint_stops_every_prefix_until_its_pause_is_stored() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let (store, batches) = recording_store();
        let thread = graph().with_checkpointer(store).thread("t");
        assert_eq!(pauses_until_end(&thread, durability).await, PAUSES);
        let batches = batches.lock().unwrap().clone();
        let mut passed = 0;
        for (count, reopened) in each_prefix(&graph(), &batches).await.into_iter().enumerate() {
            let thread = reopened.thread("t");
            let stored = thread.interrupts().await.unwrap();
            if !(stored.before().is_empty() && stored.after().is_empty()) {
                let lines = thread.state().await.unwrap().unwrap().state.unwrap().log.len();
                let stored = describe(lines, stored.before(), stored.after());
                passed = PAUSES.iter().position(|pause| **pause == stored).unwrap() + 1;
            }
            let remaining = pauses_until_end(&thread, durability).await;
            assert_eq!(
                remaining,
                PAUSES[passed..],
                "after {count} of {} batches, {durability:?}",
                batches.len()
            );
        }
        assert_eq!(passed, PAUSES.len());
    }
}
