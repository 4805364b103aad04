//! A deferred node runs in the first superstep in which nothing else is planned.

use serde::{Deserialize, Serialize};
use superstep::{Context, END, Route, START, StateGraph};

use crate::engine::trace::{Trace, TraceUpdate, log_of, nodes, ran, say};

nodes! { a b c d e long_1 long_2 }

#[test]
fn deferred_node_runs_once_after_everything_else() {
    let graph = StateGraph::<Trace>::new()
        .edge(START, (a, b, long_1))
        .edge(long_1, long_2)
        .edge(a, d)
        .edge(b, d)
        .edge(long_2, d)
        .edge(d, END)
        .defer(d)
        .compile()
        .unwrap();
    assert_eq!(log_of(&graph), "1:a 1:b 1:long_1 2:long_2 3:d");
}

#[test]
fn deferred_nodes_run_together_in_registration_order() {
    let graph = StateGraph::<Trace>::new()
        .node(d)
        .edge(START, (a, e))
        .edge(a, b)
        .edge(b, d)
        .edge(d, END)
        .edge(e, END)
        .defer(e)
        .defer(d)
        .compile()
        .unwrap();
    // `e` was planned earlier, but `d` was registered first.
    assert_eq!(log_of(&graph), "1:a 2:b 3:d 3:e");
}

#[test]
fn deferred_node_alone_runs_at_once() {
    let graph = StateGraph::<Trace>::new().edge(START, d).edge(d, a).edge(a, END).defer(d).compile().unwrap();
    assert_eq!(log_of(&graph), "1:d 2:a");
}

#[derive(Route)]
enum Again {
    #[to(a)]
    Round,
    #[to(END)]
    Enough,
}

#[test]
fn deferred_node_can_loop_and_be_deferred_again() {
    async fn gather(_: &Trace, cx: &Context) -> (TraceUpdate, Again) {
        (ran(cx), if cx.superstep() < 5 { Again::Round } else { Again::Enough })
    }
    let graph = StateGraph::<Trace>::new()
        .edge(START, a)
        .edge(a, (gather, b))
        .edge(b, gather)
        .defer(gather)
        .compile()
        .unwrap();
    assert_eq!(log_of(&graph), "1:a 2:b 3:gather 4:a 5:b 6:gather");
}

#[derive(Serialize, Deserialize)]
struct Item(u32);

#[derive(Route)]
enum Map {
    #[to(late)]
    Late(Item),
    #[to(soon)]
    Soon(Item),
    #[to(c)]
    On,
}

async fn late(item: &Item, cx: &Context) -> TraceUpdate {
    say(format!("{}:late {}", cx.superstep(), item.0))
}

async fn soon(item: &Item, cx: &Context) -> (TraceUpdate, Vec<Map>) {
    (say(format!("{}:soon {}", cx.superstep(), item.0)), vec![Map::Late(Item(item.0 + 10))])
}

async fn map() -> Vec<Map> {
    vec![Map::Late(Item(2)), Map::Soon(Item(3)), Map::Late(Item(1)), Map::On]
}

#[test]
fn packets_to_a_deferred_node_wait_in_order() {
    let graph = StateGraph::<Trace>::new()
        .edge(START, map)
        .node(soon)
        .edge(late, END)
        .edge(c, d)
        .edge(d, e)
        .edge(e, END)
        .defer(late)
        .defer(d)
        .compile()
        .unwrap();
    // The task of the edge comes first, then all packets in the order in which they were sent.
    assert_eq!(log_of(&graph), "2:c 2:soon 3 3:d 3:late 2 3:late 1 3:late 13 4:e");
}
