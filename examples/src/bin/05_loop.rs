//! Shows a loop with a conditional edge, and the recursion limit that stops an endless loop.
//! Run with `cargo run -p examples --bin 05_loop`.
//!
//! The targets of a node are the variants of an enum. The compiler checks matches on it, diagrams show it, and `compile()` checks
//! that the targets exist.

use superstep::{Context, END, ErrorKind, GraphState, Result, Route, START, StateGraph};

#[derive(GraphState, Clone, Debug)]
struct Search {
    #[state(input)]
    root_of: f64,
    #[state(input, default = 1.0)]
    guess: f64,
    #[state(reducer = add)]
    rounds: u32,
}

#[derive(Route)]
enum Verdict {
    #[to(improve)]
    Coarse,
    #[to(END)]
    Fine,
}

async fn improve(search: &Search) -> SearchUpdate {
    Search::update().guess((search.guess + search.root_of / search.guess) / 2.0).rounds(1_u32)
}

async fn judge(search: &Search, cx: &Context) -> Verdict {
    let error = (search.guess * search.guess - search.root_of).abs();
    println!("round {}: {:.6}, {} supersteps left", search.rounds, search.guess, cx.remaining_steps());
    if error > 1e-9 { Verdict::Coarse } else { Verdict::Fine }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let graph = StateGraph::<Search>::new().edge(START, improve).edge(improve, judge).compile()?;

    let search = graph.run(Search::input(2.0)).await?.into_state();
    assert!((search.guess - 2.0_f64.sqrt()).abs() < 1e-9);

    // -1 has no real root: the guesses never converge, and the limit stops the run.
    let Err(error) = graph.run(Search::input(-1.0).guess(0.5)).recursion_limit(20).await else {
        unreachable!("-1 has no root");
    };
    println!("{error}");
    assert!(matches!(error.kind(), ErrorKind::RecursionLimit { limit: 20, .. }));
    assert_eq!(error.state::<Search>().map(|search| search.rounds), Some(10));
    Ok(())
}
