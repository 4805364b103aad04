//! Joins: they wait for all sources, run once per round, and report missing sources.

use serde::{Deserialize, Serialize};
use superstep::{Context, END, ErrorKind, Route, START, StateGraph};

use crate::engine::trace::{Trace, TraceUpdate, block_on, log_of, nodes, ran};

nodes! { a b c d e long_1 long_2 long_3 }

fn graph() -> StateGraph<Trace> {
    StateGraph::<Trace>::new()
}

#[test]
fn join_of_unequal_branches_runs_once() {
    let graph = graph()
        .edge(START, (a, long_1))
        .edge(long_1, long_2)
        .edge(long_2, long_3)
        .join((a, long_3), c)
        .edge(c, END)
        .compile()
        .unwrap();
    assert_eq!(log_of(&graph), "1:a 1:long_1 2:long_2 3:long_3 4:c");
}

#[test]
fn join_of_simultaneous_sources_runs_once() {
    let graph = graph().edge(START, (a, b, d)).join((a, b, d), c).edge(c, END).compile().unwrap();
    assert_eq!(log_of(&graph), "1:a 1:b 1:d 2:c");
}

#[test]
fn duplicate_join_source_counts_once() {
    let graph = graph().edge(START, (a, b)).join((a, b, a), c).edge(c, END).compile().unwrap();
    assert_eq!(log_of(&graph), "1:a 1:b 2:c");
}

#[test]
fn node_can_have_several_joins_and_edges() {
    let graph = graph()
        .edge(START, (a, b))
        .join((a, b), (c, d))
        .join((b, c), e)
        .edge(a, long_1)
        .edge(long_1, END)
        .edge(c, END)
        .edge(d, END)
        .edge(e, END)
        .compile()
        .unwrap();
    assert_eq!(log_of(&graph), "1:a 1:b 2:c 2:d 2:long_1 3:e");
}

#[test]
fn joins_into_one_node_are_independent() {
    let graph = graph()
        .edge(START, (a, b, d))
        .edge(d, e)
        .join((a, b), c)
        .join((d, e), c)
        .edge(c, END)
        .compile()
        .unwrap();
    assert_eq!(log_of(&graph), "1:a 1:b 1:d 2:e 2:c 3:c");
}

#[test]
fn other_edges_do_not_affect_the_join() {
    let graph = graph()
        .edge(START, (a, d))
        .edge(d, c)
        .edge(a, long_1)
        .edge(long_1, b)
        .join((a, b), c)
        .edge(c, END)
        .compile()
        .unwrap();
    // The edge runs `c` first. The incomplete join keeps its arrivals and completes later.
    assert_eq!(log_of(&graph), "1:a 1:d 2:c 2:long_1 3:b 4:c");
}

#[test]
fn join_and_edge_together_run_the_target_once() {
    let graph = graph().edge(START, (a, b)).join((a, b), c).edge(a, c).edge(c, END).compile().unwrap();
    assert_eq!(log_of(&graph), "1:a 1:b 2:c");
}

#[derive(Route)]
enum Round {
    #[to(a)]
    Again,
    #[to(END)]
    Enough,
}

async fn three_rounds(_: &Trace, cx: &Context) -> (TraceUpdate, Round) {
    (ran(cx), if cx.superstep() < 6 { Round::Again } else { Round::Enough })
}

#[test]
fn join_is_cleared_for_its_next_round() {
    let graph = graph().edge(START, a).edge(a, (b, d)).join((b, d), three_rounds).compile().unwrap();
    assert_eq!(log_of(&graph), "1:a 2:b 2:d 3:three_rounds 4:a 5:b 5:d 6:three_rounds");
}

#[test]
fn source_finishing_beside_the_target_counts_for_the_next_round() {
    // `a` runs in superstep 1, and beside `c` in superstep 2.
    let graph =
        graph().edge(START, (a, b, d)).edge(d, a).join_optional((a, b), c).edge(c, b).compile().unwrap();
    assert_eq!(log_of(&graph), "1:a 1:b 1:d 2:a 2:c 3:b 4:c 5:b");
}

#[derive(Serialize, Deserialize)]
struct Item(u32);

#[derive(Route)]
enum Map {
    #[to(item)]
    Item(Item),
    #[to(b)]
    Nothing,
}

async fn item(_: &Item, cx: &Context) -> TraceUpdate {
    ran(cx)
}

async fn map() -> Vec<Map> {
    (0..3).map(|number| Map::Item(Item(number))).collect()
}

async fn map_over_nothing() -> Map {
    Map::Nothing
}

#[test]
fn packets_to_one_source_count_as_one_arrival() {
    let graph = graph().edge(START, (map, a)).join((item, a), c).edge(b, END).edge(c, END).compile().unwrap();
    assert_eq!(log_of(&graph), "1:a 2:item 2:item 2:item 3:c");
}

#[test]
fn incomplete_join_fails_the_run_and_names_missing_source() {
    let graph = graph()
        .name("mapping")
        .edge(START, (map_over_nothing, a))
        .join((item, a), c)
        .edge(b, END)
        .edge(c, END)
        .compile()
        .unwrap();
    let error = block_on(graph.run(Trace::input())).unwrap_err();
    let ErrorKind::JoinNotFilled { target, missing, .. } = error.kind() else { panic!("{error}") };
    assert_eq!((target.as_str(), missing.as_slice()), ("c", &["item".to_owned()][..]));
    assert_eq!(
        error.to_string(),
        "graph `mapping`: the run finished while the join into `c` still waits for `item`: \
         use `join_optional` if the source may be skipped"
    );
    assert_eq!(error.state::<Trace>().unwrap().log, ["1:a", "2:b"], "all other nodes have run");
}

#[test]
fn incomplete_join_names_every_missing_source() {
    let graph = graph()
        .edge(START, (map_over_nothing, a))
        .join((item, a, long_1), END)
        .edge(b, END)
        .edge(item, long_1)
        .compile()
        .unwrap();
    let error = block_on(graph.run(Trace::input())).unwrap_err();
    let ErrorKind::JoinNotFilled { target, missing, .. } = error.kind() else { panic!("{error}") };
    assert_eq!((target.as_str(), missing.as_slice()), ("END", &["item".to_owned(), "long_1".to_owned()][..]));
}

#[test]
fn optional_join_can_stay_incomplete() {
    let graph = graph()
        .edge(START, (map_over_nothing, a))
        .join_optional((item, a), c)
        .edge(b, END)
        .edge(c, END)
        .compile()
        .unwrap();
    assert_eq!(log_of(&graph), "1:a 2:b");
}

#[test]
fn optional_join_runs_when_complete() {
    let graph = graph()
        .edge(START, (map, a))
        .join_optional((item, a), c)
        .edge(b, END)
        .edge(c, END)
        .compile()
        .unwrap();
    assert_eq!(log_of(&graph), "1:a 2:item 2:item 2:item 3:c");
}

#[test]
fn join_arrivals_do_not_leak_into_the_next_run() {
    let graph = graph()
        .edge(START, (map_over_nothing, a))
        .join_optional((b, a, item), c)
        .edge(c, END)
        .compile()
        .unwrap();
    for _ in 0..3 {
        assert_eq!(log_of(&graph), "1:a 2:b");
    }
}

#[test]
fn join_into_end_plans_nothing() {
    let graph = graph().edge(START, (a, b)).edge(a, d).join((d, b), END).compile().unwrap();
    assert_eq!(log_of(&graph), "1:a 1:b 2:d");
}

#[test]
fn joins_work_with_deferred_sources_and_targets() {
    let graph = graph()
        .edge(START, (a, b))
        .edge(a, long_1)
        .edge(long_1, long_2)
        .edge(long_2, END)
        .join((a, b), c)
        .edge(c, END)
        .defer(c)
        .compile()
        .unwrap();
    assert_eq!(log_of(&graph), "1:a 1:b 2:long_1 3:long_2 4:c");
    let graph = StateGraph::<Trace>::new()
        .edge(START, (a, b))
        .edge(a, long_1)
        .edge(long_1, END)
        .join((a, b), c)
        .edge(c, END)
        .defer(b)
        .compile()
        .unwrap();
    assert_eq!(log_of(&graph), "1:a 2:long_1 3:b 4:c");
}
