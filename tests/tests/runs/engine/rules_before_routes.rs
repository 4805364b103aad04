//! A broken rule is reported even if the route function fails on the same update.

use superstep::{END, ErrorKind, GraphState, Route, START, StateGraph};

use super::trace::block_on;

#[derive(GraphState, Clone)]
struct Ruled {
    #[state(validate(range(min = 1)), default = 1)]
    n: u32,
    other: u8,
}

#[derive(Route)]
enum Way {
    #[to(END)]
    End,
}

async fn zero(_: &Ruled) -> RuledUpdate {
    Ruled::update().n(0_u32)
}

async fn beside(_: &Ruled) -> RuledUpdate {
    Ruled::update().other(1)
}

fn way(state: &Ruled) -> Way {
    assert!(10 / state.n > 0);
    Way::End
}

#[test]
fn broken_rule_is_reported_before_the_route_failure() {
    let alone = StateGraph::<Ruled>::new().edge(START, zero).route(zero, way).compile().unwrap();
    let both = StateGraph::<Ruled>::new()
        .edge(START, (zero, beside))
        .route(zero, way)
        .edge(beside, END)
        .compile()
        .unwrap();
    for graph in [alone, both] {
        let error = block_on(graph.run(Ruled::input())).unwrap_err();
        let ErrorKind::Validation { nodes, .. } = error.kind() else { panic!("{error}") };
        assert_eq!(nodes, &["zero"]);
    }
}
