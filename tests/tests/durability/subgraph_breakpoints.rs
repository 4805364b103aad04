//! Every prefix of the writes of a run stops at each breakpoint inside its subgraph calls whose pause the thread does not
//! show, and at no other.

use superstep::subgraph::Subgraph;
use superstep::thread::{Thread, ThreadStatus};
use superstep::{Durability, END, Graph, GraphState, Outcome, START, StateGraph};

use crate::job::has_no_thread;
use crate::prefixes::{recording_store, reopened};

#[derive(GraphState, Clone, Debug, PartialEq)]
struct Walk {
    #[state(reducer = append)]
    log: Vec<String>,
}

macro_rules! nodes {
    ($($name:ident)*) => {$(
        async fn $name(_: &Walk) -> WalkUpdate {
            Walk::update().log([stringify!($name).to_owned()])
        }
    )*};
}

nodes! { pack one two three left right rest }

type Node = Subgraph<Walk>;

/// The subgraphs of a graph that are not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unstored {
    Nothing,
    Outer,
    Inner,
    Beside,
    All,
}

impl Unstored {
    fn wrap(self, node: Node, all: &[Self]) -> Node {
        if self == Self::All || all.contains(&self) { node.unstored() } else { node }
    }
}

/// Two levels of calls with breakpoints on both, beside another call with a breakpoint.
fn graph(unstored: Unstored) -> Graph<Walk> {
    let inner = StateGraph::<Walk>::new()
        .edge(START, one)
        .edge(one, two)
        .edge(two, three)
        .edge(three, END)
        .interrupt_before(two)
        .interrupt_after(two);
    let inner = unstored.wrap(inner.compile().unwrap().as_node("inner"), &[Unstored::Inner]);
    let outer = StateGraph::<Walk>::new()
        .edge(START, pack)
        .edge(pack, &inner)
        .edge(&inner, rest)
        .edge(rest, END)
        .interrupt_before(&inner)
        .interrupt_after(&inner);
    let outer = unstored.wrap(outer.compile().unwrap().as_node("outer"), &[Unstored::Outer]);
    let beside = StateGraph::<Walk>::new()
        .edge(START, left)
        .edge(left, right)
        .edge(right, END)
        .interrupt_before(right)
        .interrupt_after(left);
    let beside = unstored.wrap(beside.compile().unwrap().as_node("beside"), &[Unstored::Beside]);
    StateGraph::<Walk>::new()
        .edge(START, (&outer, &beside))
        .join((&outer, &beside), rest)
        .edge(rest, END)
        .interrupt_after(&outer)
        .compile()
        .unwrap()
}

const LOG: &str = "pack one two three rest left right rest";

/// The pauses of the walk: the nodes with breakpoints before and after.
const PAUSES: [&str; 5] = [
    "before beside/right outer/inner after beside/left",
    "before outer/inner/two after ",
    "before  after outer/inner/two",
    "before  after outer/inner",
    "before  after outer",
];

fn describe(before: &[String], after: &[String]) -> String {
    let sorted = |nodes: &[String]| {
        let mut nodes = nodes.to_vec();
        nodes.sort();
        nodes.join(" ")
    };
    format!("before {} after {}", sorted(before), sorted(after))
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
                assert_eq!(walk.log.join(" "), LOG);
                return pauses;
            }
            Outcome::Interrupted(pause) => pauses.push(describe(pause.before(), pause.after())),
        }
        assert!(pauses.len() < 20, "it does not get past {pauses:?}");
    }
}

async fn assert_every_prefix_stops(unstored: Unstored, durability: Durability) {
    let graph = graph(unstored);
    let (store, batches) = recording_store();
    let thread = graph.with_checkpointer(store).thread("t");
    assert_eq!(pauses_until_end(&thread, durability).await, PAUSES, "{unstored:?}, {durability:?}");
    let batches = batches.lock().unwrap().clone();
    let mut passed = 0;
    for count in 0..=batches.len() {
        let about = format!("after {count} of {} batches, {unstored:?}, {durability:?}", batches.len());
        let graph = graph.with_checkpointer(reopened(&batches[..count]).await);
        let thread = graph.thread("t");
        let stored = thread.interrupts().await.unwrap();
        let at_breakpoint = !(stored.before().is_empty() && stored.after().is_empty());
        if at_breakpoint {
            let stored = describe(stored.before(), stored.after());
            passed = PAUSES.iter().position(|pause| **pause == stored).unwrap() + 1;
        }
        if let [listed] = graph.unfinished().await.unwrap().as_slice() {
            let shows = matches!(listed.status, ThreadStatus::AtBreakpoint { .. });
            assert!(at_breakpoint || !shows, "{about}: {:?}", listed.status);
        }
        assert_eq!(pauses_until_end(&thread, durability).await, PAUSES[passed..], "{about}");
    }
    assert_eq!(passed, PAUSES.len());
}

#[tokio::test]
async fn breakpoint_inside_stops_every_prefix_until_its_pause_is_stored() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        assert_every_prefix_stops(Unstored::Nothing, durability).await;
    }
}

#[tokio::test]
async fn breakpoint_of_an_unstored_call_is_passed_once() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        for unstored in [Unstored::Outer, Unstored::Inner, Unstored::Beside, Unstored::All] {
            assert_every_prefix_stops(unstored, durability).await;
        }
    }
}
