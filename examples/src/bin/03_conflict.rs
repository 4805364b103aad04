//! Two nodes that run at the same time write the same field: with a reducer both writes count, without one it is an error
//! that names the field and both nodes, and nothing of the superstep is applied.

use superstep::{END, ErrorKind, GraphState, Result, START, StateGraph};

#[derive(GraphState, Clone, Debug)]
struct Vote {
    #[state(reducer = append)]
    voices: Vec<String>,
    winner: Option<String>,
}

async fn open(_: &Vote) -> VoteUpdate {
    Vote::update().winner("nobody yet")
}

async fn left(_: &Vote) -> VoteUpdate {
    Vote::update().voices(["left".to_owned()])
}

async fn right(_: &Vote) -> VoteUpdate {
    Vote::update().voices(["right".to_owned()])
}

async fn left_wins(_: &Vote) -> VoteUpdate {
    Vote::update().winner("left")
}

async fn right_wins(_: &Vote) -> VoteUpdate {
    Vote::update().voices(["never counted".to_owned()]).winner("right")
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
    // In the order in which the graph names them, whichever finished first.
    assert_eq!(vote.voices, ["left", "right"]);
    println!("with a reducer: {:?}", vote.voices);

    let contested = StateGraph::<Vote>::new()
        .edge(START, open)
        .edge(open, (left_wins, right_wins))
        .edge(left_wins, END)
        .edge(right_wins, END)
        .compile()?;
    let Err(error) = contested.run(Vote::input()).await else { unreachable!("both nodes wrote `winner`") };
    println!("without one: {error}");
    assert!(matches!(
        error.kind(),
        ErrorKind::WriteConflict { field: "winner", nodes, step: 2, .. } if nodes == &["left_wins", "right_wins"]
    ));

    // The state as of the last good superstep is not lost, and neither half of the bad one is in it.
    let kept = error.state::<Vote>();
    assert_eq!(kept.map(|vote| vote.voices.len()), Some(0));
    println!("the state kept: {:?}", kept);
    Ok(())
}
