//! Shows threads: with a checkpointer, each superstep is stored, and the next run continues from the stored state.
//! Run with `cargo run -p examples --bin 11_threads`.
//!
//! Two nodes in a row make four checkpoints: the input, the applied input, and one after each node.

use superstep::{END, GraphState, Result, START, StateGraph};
use superstep_sqlite::SqliteCheckpointer;

#[derive(GraphState, Clone, Debug)]
struct State {
    foo: String,
    #[state(reducer = append)]
    bar: Vec<String>,
}

async fn node_a(_: &State) -> StateUpdate {
    State::update().foo("a").bar(["a".to_owned()])
}

async fn node_b(_: &State) -> StateUpdate {
    State::update().foo("b").bar(["b".to_owned()])
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("threads.db");
    let graph =
        StateGraph::<State>::new().edge(START, node_a).edge(node_a, node_b).edge(node_b, END).compile()?;

    // Creates the file if necessary. A graph with a checkpointer has no `run` of its own, only threads.
    let stored = graph.with_checkpointer(SqliteCheckpointer::open(&file)?);
    let thread = stored.thread("1");
    thread.run(State::input().foo("hello")).await?;

    // Snapshots come newest first; reversed here to read them in order.
    let mut history = thread.history().await?;
    history.reverse();
    for snapshot in &history {
        let next = snapshot.next.join(", ");
        let state = snapshot.state.as_ref().map(|state| (state.foo.as_str(), state.bar.join(" ")));
        println!(
            "{} {:>2} {:<6} next: {next:<7} {state:?}",
            snapshot.id,
            snapshot.step,
            snapshot.source.name()
        );
    }
    let steps: Vec<_> = history
        .iter()
        .map(|snapshot| (snapshot.step, snapshot.source.name(), snapshot.next.join(", ")))
        .collect();
    assert_eq!(
        steps,
        [
            (-1, "input", "START".to_owned()),
            (0, "loop", "node_a".to_owned()),
            (1, "loop", "node_b".to_owned()),
            (2, "loop", String::new()),
        ]
    );

    // At any later time, in any process: the reducers apply the next input to the stored state.
    drop((thread, stored));
    let thread = graph.with_checkpointer(SqliteCheckpointer::open(&file)?).thread("1");
    let state = thread.run(State::input().bar(["again".to_owned()])).await?.into_state();
    assert_eq!(state.bar, ["a", "b", "again", "a", "b"]);
    assert_eq!(thread.history().limit(1).await?.first().map(|head| head.step), Some(6));
    Ok(())
}
