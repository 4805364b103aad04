//! Branches of unequal length: an edge, a join and a deferred node differ in what they wait for.
//!
//! ```text
//!         ┌── short ───────────────┐
//! START ──┤                        + ── join ── END
//!         └── long_1 ── long_2 ────┘
//! ```

use superstep::{END, GraphState, Result, START, StateGraph};

#[derive(GraphState, Clone, Debug)]
struct Trip {
    #[state(reducer = append)]
    log: Vec<String>,
}

fn note(what: &str) -> TripUpdate {
    Trip::update().log([what.to_owned()])
}

async fn short(_: &Trip) -> TripUpdate {
    note("short")
}

async fn long_1(_: &Trip) -> TripUpdate {
    note("long_1")
}

async fn long_2(_: &Trip) -> TripUpdate {
    note("long_2")
}

async fn meet(_: &Trip) -> TripUpdate {
    note("meet")
}

fn branches() -> StateGraph<Trip> {
    StateGraph::<Trip>::new().edge(START, (short, long_1)).edge(long_1, long_2).edge(meet, END)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    // Two edges: it runs whenever one of them fires, twice here.
    let edges = branches().edge(short, meet).edge(long_2, meet).compile()?;
    let log = edges.run(Trip::input()).await?.into_state().log;
    println!("edges: {}", log.join(" "));
    assert_eq!(log, ["short", "long_1", "long_2", "meet", "meet"]);

    // A join: once, when both have finished.
    let join = branches().join((short, long_2), meet).compile()?;
    let log = join.run(Trip::input()).await?.into_state().log;
    println!("join:  {}", log.join(" "));
    assert_eq!(log, ["short", "long_1", "long_2", "meet"]);

    // Deferred: once, when nothing else is left to do, whoever that was.
    let deferred = branches().edge(short, meet).edge(long_2, meet).defer(meet).compile()?;
    let log = deferred.run(Trip::input()).await?.into_state().log;
    println!("defer: {}", log.join(" "));
    assert_eq!(log, ["short", "long_1", "long_2", "meet"]);

    println!("\n{}", join.to_mermaid());
    Ok(())
}
