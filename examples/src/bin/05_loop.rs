//! A loop, a way out of it, and the recursion limit for when it is missed.
//!
//! Where a node may lead is an enum. It is matched exhaustively, drawn in the picture, and checked by `compile()`.

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

    // There is no root of -1: the guesses jump about until the limit stops them.
    let Err(error) = graph.run(Search::input(-1.0).guess(0.5)).recursion_limit(20).await else {
        unreachable!("-1 has no root");
    };
    println!("{error}");
    assert!(matches!(error.kind(), ErrorKind::RecursionLimit { limit: 20, .. }));
    assert_eq!(error.state::<Search>().map(|search| search.rounds), Some(10));
    Ok(())
}
