//! Shows how often a node runs after branches of different length: with edges, with a join, and deferred.
//! Run with `cargo run -p examples --bin 06_join`.
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

fn log(entry: &str) -> TripUpdate {
    Trip::update().log([entry.to_owned()])
}

async fn short(_: &Trip) -> TripUpdate {
    log("short")
}

async fn long_1(_: &Trip) -> TripUpdate {
    log("long_1")
}

async fn long_2(_: &Trip) -> TripUpdate {
    log("long_2")
}

async fn meet(_: &Trip) -> TripUpdate {
    log("meet")
}

fn branches() -> StateGraph<Trip> {
    StateGraph::<Trip>::new().edge(START, (short, long_1)).edge(long_1, long_2).edge(meet, END)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    // Two edges: the node runs after each of them, here twice.
    let edges = branches().edge(short, meet).edge(long_2, meet).compile()?;
    let log = edges.run(Trip::input()).await?.into_state().log;
    println!("edges: {}", log.join(" "));
    assert_eq!(log, ["short", "long_1", "long_2", "meet", "meet"]);

    // A join: the node runs once, after both branches.
    let join = branches().join((short, long_2), meet).compile()?;
    let log = join.run(Trip::input()).await?.into_state().log;
    println!("join:  {}", log.join(" "));
    assert_eq!(log, ["short", "long_1", "long_2", "meet"]);

    // A deferred node: it runs once, when no other node is planned.
    let deferred = branches().edge(short, meet).edge(long_2, meet).defer(meet).compile()?;
    let log = deferred.run(Trip::input()).await?.into_state().log;
    println!("defer: {}", log.join(" "));
    assert_eq!(log, ["short", "long_1", "long_2", "meet"]);

    println!("\n{}", join.to_mermaid());
    Ok(())
}
