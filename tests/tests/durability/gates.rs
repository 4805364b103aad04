//! Every prefix of what a run with breakpoints wrote stops at each of them: at those that were not stored, and never twice.

use superstep::thread::Thread;
use superstep::{Durability, END, Graph, GraphState, Outcome, Route, START, StateGraph};

use crate::job::is_new;
use crate::prefixes::{each_prefix, recorded};

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

/// Two rounds, with a gate before `left` and gates behind all the others.
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

/// Where the walk stops: so many lines are written there, and these are the gates.
const STOPS: [&str; 5] = ["1 left pack", "3  right", "4  rest", "5 left pack", "7  right"];

fn stop(lines: usize, before: &[String], after: &[String]) -> String {
    format!("{lines} {} {}", before.join(","), after.join(","))
}

/// Goes on to the end; tells where it stops.
async fn walked(thread: &Thread<Walk>, durability: Durability) -> Vec<String> {
    let mut stops = Vec::new();
    loop {
        let outcome = match thread.resume(()).durability(durability).await {
            Err(error) if is_new(&error) => thread.run(Walk::input()).durability(durability).await.unwrap(),
            resumed => resumed.unwrap(),
        };
        match outcome {
            Outcome::Done(walk) => {
                assert_eq!(walk.log.join(" "), "pack left right rest pack left right rest");
                return stops;
            }
            Outcome::Interrupted(pause) => {
                stops.push(stop(pause.state().log.len(), pause.before(), pause.after()));
            }
        }
    }
}

#[tokio::test]
async fn a_gate_stops_a_thread_from_every_prefix_until_its_stop_is_stored() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let (store, batches) = recorded();
        let thread = graph().with_checkpointer(store).thread("t");
        assert_eq!(walked(&thread, durability).await, STOPS);
        let batches = batches.lock().unwrap().clone();
        let mut told = 0;
        for (count, reopened) in each_prefix(&graph(), &batches).await.into_iter().enumerate() {
            let thread = reopened.thread("t");
            let stored = thread.interrupts().await.unwrap();
            if !(stored.before().is_empty() && stored.after().is_empty()) {
                let lines = thread.state().await.unwrap().unwrap().state.unwrap().log.len();
                let stored = stop(lines, stored.before(), stored.after());
                told = STOPS.iter().position(|stop| **stop == stored).unwrap() + 1;
            }
            let left = walked(&thread, durability).await;
            assert_eq!(left, STOPS[told..], "after {count} of {} batches, {durability:?}", batches.len());
        }
        assert_eq!(told, STOPS.len());
    }
}
