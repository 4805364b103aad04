//! A run may have so many supersteps and no more; one that is complete by then is complete.

use superstep::{Context, END, ErrorKind, GraphState as _, Route, START, StateGraph};

use crate::engine::trace::{Trace, TraceUpdate, here, nodes, say};

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
fn a_limit_lets_exactly_so_many_supersteps_run() {
    for (limit, log) in [(0, ""), (1, "1:a"), (2, "1:a 2:b 2:c"), (3, "1:a 2:b 2:c 3:a")] {
        let error = here(endless().run(Trace::input()).recursion_limit(limit).into_future()).unwrap_err();
        let ErrorKind::RecursionLimit { limit: told, .. } = error.kind() else { panic!("{error}") };
        assert_eq!(*told, limit);
        assert_eq!(error.state::<Trace>().unwrap().log.join(" "), log);
    }
    let error = here(endless().run(Trace::input()).into_future()).unwrap_err();
    assert!(matches!(
        error.kind(),
        ErrorKind::RecursionLimit { limit: superstep::DEFAULT_RECURSION_LIMIT, .. }
    ));
    assert_eq!(
        here(endless().run(Trace::input()).recursion_limit(3).into_future()).unwrap_err().to_string(),
        "graph `endless`: the run is not finished after 3 supersteps (next: `b` and `c`): \
         raise `recursion_limit(..)` if it needs more"
    );
}

#[test]
fn a_run_that_is_complete_after_its_last_superstep_is_complete() {
    let graph = StateGraph::<Trace>::new().edge(START, a).edge(a, b).edge(b, END).compile().unwrap();
    let outcome = here(graph.run(Trace::input()).recursion_limit(2).into_future()).unwrap();
    assert_eq!(outcome.output().log, ["1:a", "2:b"]);
    let error = here(graph.run(Trace::input()).recursion_limit(1).into_future()).unwrap_err();
    assert_eq!(error.state::<Trace>().unwrap().dump().to_string(), r#"{"log":["1:a"],"value":0}"#);
}

#[test]
fn a_join_that_waits_is_told_of_rather_than_the_limit() {
    let graph = StateGraph::<Trace>::new().edge(START, asks).edge(a, b).join((c, b), END).compile();
    let graph = graph.unwrap();
    let error = here(graph.run(Trace::input()).recursion_limit(2).into_future()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::RecursionLimit { .. }), "{error}");
    let error = here(graph.run(Trace::input()).recursion_limit(3).into_future()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::JoinNotFilled { .. }), "{error}");
}

#[derive(Route)]
enum Way {
    #[to(a)]
    A,
    #[to(c)]
    #[expect(dead_code, reason = "it could")]
    C,
}

async fn asks(_: &Trace, cx: &Context) -> (TraceUpdate, Way) {
    (say(format!("{} left", cx.remaining_steps())), Way::A)
}

#[test]
fn a_node_can_ask_how_many_supersteps_remain() {
    let graph = StateGraph::<Trace>::new().edge(START, asks).edge(a, b).edge(b, asks).edge(c, END);
    let error =
        here(graph.compile().unwrap().run(Trace::input()).recursion_limit(7).into_future()).unwrap_err();
    assert_eq!(error.state::<Trace>().unwrap().log.join(" "), "6 left 2:a 3:b 3 left 5:a 6:b 0 left");
}
