//! Shows two nodes that write the same field in one superstep, with and without a reducer.
//! Run with `cargo run -p examples --bin 03_conflict`.
//!
//! With a reducer both writes count. Without one the run fails with an error that names the field and both nodes, and no write of
//! the superstep is applied.

use superstep::{END, ErrorKind, GraphState, Result, START, StateGraph};

#[derive(GraphState, Clone, Debug)]
struct Vote {
    #[state(reducer = append)]
    votes: Vec<String>,
    winner: Option<String>,
}

async fn open(_: &Vote) -> VoteUpdate {
    Vote::update().winner("none yet")
}

async fn left(_: &Vote) -> VoteUpdate {
    Vote::update().votes(["left".to_owned()])
}

async fn right(_: &Vote) -> VoteUpdate {
    Vote::update().votes(["right".to_owned()])
}

async fn left_wins(_: &Vote) -> VoteUpdate {
    Vote::update().winner("left")
}

async fn right_wins(_: &Vote) -> VoteUpdate {
    Vote::update().votes(["never counted".to_owned()]).winner("right")
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let reduced = StateGraph::<Vote>::new()
        .edge(START, open)
        .edge(open, (left, right))
        .edge(left, END)
        .edge(right, END)
        .compile()?;
    let vote = reduced.run(Vote::input()).await?.into_state();
    // The order is that of the graph, not the order in which the nodes finished.
    assert_eq!(vote.votes, ["left", "right"]);
    println!("with a reducer: {:?}", vote.votes);

    let contested = StateGraph::<Vote>::new()
        .edge(START, open)
        .edge(open, (left_wins, right_wins))
        .edge(left_wins, END)
        .edge(right_wins, END)
        .compile()?;
    let Err(error) = contested.run(Vote::input()).await else { unreachable!("both nodes wrote `winner`") };
    println!("without a reducer: {error}");
    assert!(matches!(
        error.kind(),
        ErrorKind::WriteConflict { field: "winner", nodes, step: 2, .. } if nodes == &["left_wins", "right_wins"]
    ));

    // The error carries the state after the last successful superstep, without any write of the failed one.
    let state = error.state::<Vote>();
    assert_eq!(state.map(|vote| vote.votes.len()), Some(0));
    println!("last good state: {state:?}");
    Ok(())
}
