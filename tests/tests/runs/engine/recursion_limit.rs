//! The recursion limit.

use superstep::{Context, END, ErrorKind, GraphState as _, Route, START, StateGraph};

use crate::engine::trace::{Trace, TraceUpdate, block_on, nodes, say};

nodes! { a b c }

fn endless() -> superstep::Graph<Trace> {
    StateGraph::<Trace>::new()
        .name("endless")
        .edge(START, a)
        .edge(a, (b, c))
        .edge(b, a)
        .edge(c, END)
        .compile()
        .unwrap()
}

#[test]
fn recursion_limit_bounds_the_supersteps_exactly() {
    for (limit, log) in [(0, ""), (1, "1:a"), (2, "1:a 2:b 2:c"), (3, "1:a 2:b 2:c 3:a")] {
        let error = block_on(endless().run(Trace::input()).recursion_limit(limit)).unwrap_err();
        let ErrorKind::RecursionLimit { limit: reported, .. } = error.kind() else { panic!("{error}") };
        assert_eq!(*reported, limit);
        assert_eq!(error.state::<Trace>().unwrap().log.join(" "), log);
    }
    let error = block_on(endless().run(Trace::input())).unwrap_err();
    assert!(matches!(
        error.kind(),
        ErrorKind::RecursionLimit { limit: superstep::DEFAULT_RECURSION_LIMIT, .. }
    ));
    assert_eq!(
        block_on(endless().run(Trace::input()).recursion_limit(3)).unwrap_err().to_string(),
        "graph `endless`: the run is not finished after 3 supersteps (next: `b` and `c`): \
         raise `recursion_limit(..)` if it needs more"
    );
}

#[test]
fn run_can_finish_exactly_at_the_limit() {
    let graph = StateGraph::<Trace>::new().edge(START, a).edge(a, b).edge(b, END).compile().unwrap();
    let outcome = block_on(graph.run(Trace::input()).recursion_limit(2)).unwrap();
    assert_eq!(outcome.output().log, ["1:a", "2:b"]);
    let error = block_on(graph.run(Trace::input()).recursion_limit(1)).unwrap_err();
    assert_eq!(error.state::<Trace>().unwrap().dump().to_string(), r#"{"log":["1:a"],"value":0}"#);
}

#[test]
fn incomplete_join_is_reported_before_the_limit() {
    let graph = StateGraph::<Trace>::new().edge(START, asks).edge(a, b).join((c, b), END).compile();
    let graph = graph.unwrap();
    let error = block_on(graph.run(Trace::input()).recursion_limit(2)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::RecursionLimit { .. }), "{error}");
    let error = block_on(graph.run(Trace::input()).recursion_limit(3)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::JoinNotFilled { .. }), "{error}");
}

#[derive(Route)]
enum Way {
    #[to(a)]
    A,
    #[to(c)]
    #[expect(dead_code, reason = "the variant is only declared")]
    C,
}

async fn asks(_: &Trace, cx: &Context) -> (TraceUpdate, Way) {
    (say(format!("{} left", cx.remaining_steps())), Way::A)
}

#[test]
fn node_reads_the_remaining_supersteps() {
    let graph = StateGraph::<Trace>::new().edge(START, asks).edge(a, b).edge(b, asks).edge(c, END);
    let error = block_on(graph.compile().unwrap().run(Trace::input()).recursion_limit(7)).unwrap_err();
    assert_eq!(error.state::<Trace>().unwrap().log.join(" "), "6 left 2:a 3:b 3 left 5:a 6:b 0 left");
}
