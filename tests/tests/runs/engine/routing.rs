//! Routes that nodes return, and route functions.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use superstep::NodeFailure;
use superstep::{
    Context, ContextWith, END, ErrorKind, NodeError, Overwrite, Route, START, StateGraph, StateView,
};

use crate::engine::trace::{Journal, Trace, TraceUpdate, block_on, log_of, nodes, ran, say, workers};

nodes! { a b c d }

#[derive(Serialize, Deserialize)]
struct Item(u32);

async fn item(item: &Item, cx: &Context) -> TraceUpdate {
    say(format!("{}:item {}", cx.superstep(), item.0))
}

async fn other(item: &Item, cx: &Context) -> TraceUpdate {
    say(format!("{}:other {}", cx.superstep(), item.0))
}

#[derive(Route)]
enum Way {
    #[to(a)]
    One,
    #[to(a, b, END)]
    Both,
    #[to(END)]
    Out,
    #[to(item, other)]
    Each(Item),
}

fn ways(add: impl FnOnce(StateGraph<Trace>) -> StateGraph<Trace>) -> String {
    let graph = StateGraph::<Trace>::new().edge(a, END).edge(b, END).edge(item, END).edge(other, END);
    log_of(&add(graph).compile().unwrap())
}

#[test]
fn nodes_return_routes_in_every_form() {
    async fn alone() -> Way {
        Way::Both
    }
    async fn beside(_: &Trace, cx: &Context) -> (TraceUpdate, Way) {
        (ran(cx), Way::One)
    }
    async fn list() -> Vec<Way> {
        vec![Way::Each(Item(2)), Way::One, Way::Out, Way::Each(Item(1)), Way::Both]
    }
    async fn result(_: &Trace, cx: &Context) -> Result<(TraceUpdate, Vec<Way>), NodeError> {
        Ok((ran(cx), vec![Way::Out]))
    }
    async fn inner(_: &Trace, cx: &Context) -> (TraceUpdate, Result<Way, NodeError>) {
        (ran(cx), Ok(Way::Out))
    }
    assert_eq!(ways(|graph| graph.edge(START, alone)), "2:a 2:b");
    assert_eq!(ways(|graph| graph.edge(START, beside)), "1:beside 2:a");
    assert_eq!(
        ways(|graph| graph.edge(START, list)),
        "2:a 2:b 2:item 2 2:other 2 2:item 1 2:other 1",
        "a packet is sent to each node of the variant"
    );
    assert_eq!(ways(|graph| graph.edge(START, result)), "1:result");
    assert_eq!(ways(|graph| graph.edge(START, inner)), "1:inner");
}

#[derive(StateView)]
#[view(of = Trace)]
struct Value {
    value: u32,
}

#[test]
fn route_functions_read_and_return_like_nodes() {
    fn plain(_: &Trace) -> Way {
        Way::Both
    }
    fn several(view: Value, cx: &Context) -> Result<Vec<Way>, NodeError> {
        Ok(vec![Way::Each(Item(view.value)), if cx.node() == "d" { Way::One } else { Way::Out }])
    }
    assert_eq!(ways(|graph| graph.edge(START, d).route(d, plain)), "1:d 2:a 2:b");
    assert_eq!(ways(|graph| graph.edge(START, d).route(d, several)), "1:d 2:a 2:item 0 2:other 0");
    assert_eq!(ways(|graph| graph.route(START, several)), "1:item 0 1:other 0");
}

#[test]
fn start_route_reads_input_and_context() {
    fn decide(state: &Trace, cx: &ContextWith<Journal>) -> Vec<Way> {
        cx.context().note(format!("{} {} {}", cx.node(), cx.superstep(), cx.remaining_steps()));
        vec![Way::Each(Item(state.value))]
    }
    let graph = StateGraph::<Trace>::with_context::<Journal>()
        .edge(a, END)
        .edge(b, END)
        .edge(item, END)
        .edge(other, END)
        .route(START, decide)
        .compile()
        .unwrap();
    let journal = Arc::new(Journal::default());
    let input = Trace::input().value(5).log(["given".to_owned()]);
    let run = graph.run(input).recursion_limit(3).context(Arc::clone(&journal));
    assert_eq!(block_on(run).unwrap().into_state().log, ["given", "1:item 5", "1:other 5"]);
    assert_eq!(journal.take(), ["START 0 3"]);
}

/// Returns the state that each route function sees in a superstep of two nodes.
fn seen(first: TraceUpdate, second: TraceUpdate) -> Vec<String> {
    type Two = (TraceUpdate, TraceUpdate, Journal);
    async fn left(_: &Trace, cx: &ContextWith<Two>) -> TraceUpdate {
        cx.context().0.clone()
    }
    async fn right(_: &Trace, cx: &ContextWith<Two>) -> TraceUpdate {
        cx.context().1.clone()
    }
    fn look(state: &Trace, cx: &ContextWith<Two>) -> Way {
        cx.context().2.note(format!("{}: {} {}", cx.node(), state.log.join(","), state.value));
        Way::Out
    }
    let graph = StateGraph::<Trace>::with_context::<Two>()
        .edge(START, (left, right))
        .edge(a, END)
        .edge(b, END)
        .edge(item, END)
        .edge(other, END)
        .route(left, look)
        .route(right, look)
        .compile()
        .unwrap();
    let context = Arc::new((first, second, Journal::default()));
    let run = graph.run(Trace::input().log(["given".to_owned()])).context(Arc::clone(&context));
    let outcome = block_on(run).unwrap();
    context.2.note(format!("state: {} {}", outcome.state().log.join(","), outcome.state().value));
    context.2.take()
}

#[test]
fn route_function_takes_up_to_four_parameters() {
    fn none() -> Way {
        Way::One
    }
    fn four(_: &Trace, _: &Context, _: &ContextWith<()>, trace: &Trace) -> Way {
        if trace.log.is_empty() { Way::One } else { Way::Out }
    }
    assert_eq!(ways(|graph| graph.route(START, none)), "1:a");
    assert_eq!(ways(|graph| graph.route(START, four)), "1:a");
}

#[test]
fn route_function_sees_only_the_update_of_its_node() {
    assert_eq!(
        seen(say("left").value(7), say("right")),
        ["left: given,left 7", "right: given,right 0", "state: given,left,right 7"]
    );
}

#[test]
fn route_function_sees_only_the_overwrite_of_its_node() {
    let overwrite = Trace::update().log(["silenced".to_owned()]).log(Overwrite(vec!["new".to_owned()]));
    assert_eq!(
        seen(overwrite, say("right")),
        ["left: new 0", "right: given,right 0", "state: new 0"],
        "in the state the overwrite also discards the write of the sibling"
    );
}

#[test]
fn route_function_of_a_single_node_sees_updates_once() {
    fn look(state: &Trace, cx: &ContextWith<Journal>) -> Way {
        cx.context().note(state.log.join(","));
        if state.log.len() < 3 { Way::One } else { Way::Out }
    }
    let graph = StateGraph::<Trace>::with_context::<Journal>()
        .edge(START, a)
        .edge(b, END)
        .edge(item, END)
        .edge(other, END)
        .route(a, look)
        .compile()
        .unwrap();
    let journal = Arc::new(Journal::default());
    block_on(graph.run(Trace::input()).context(Arc::clone(&journal))).unwrap();
    assert_eq!(journal.take(), ["1:a", "1:a,2:a", "1:a,2:a,3:a"]);
}

type Broken = (Journal, AtomicBool);

fn stumble(_: &Trace, cx: &ContextWith<Broken>) -> Result<Way, NodeError> {
    match (cx.context().1.load(Ordering::Relaxed), cx.attempt()) {
        (false, _) => Ok(Way::Out),
        (true, 1) => Err(NodeError::msg("cannot decide")),
        (true, _) => panic!("gave up"),
    }
}

/// Steps a run whose route function fails, then panics, then succeeds.
fn stumbles(alone: bool, timed: bool) {
    async fn left(_: &Trace, cx: &ContextWith<Broken>) -> TraceUpdate {
        cx.context().0.note("left");
        ran(cx)
    }
    async fn right(_: &Trace, cx: &ContextWith<Broken>) -> TraceUpdate {
        cx.context().0.note("right");
        ran(cx)
    }
    let graph = StateGraph::<Trace>::with_context::<Broken>().name("stumbling");
    let graph =
        if alone { graph.edge(START, left) } else { graph.edge(START, (left, right)).edge(right, END) };
    let graph = graph.route(left, stumble).edge(a, END).edge(b, END).edge(item, END).edge(other, END);
    let graph = graph.compile().unwrap();
    let context = Arc::new((Journal::default(), AtomicBool::new(true)));
    let mut run = graph.run(Trace::input()).context(Arc::clone(&context));
    if timed {
        run = run.superstep_timeout(Duration::from_secs(1));
    }
    let mut run = run.start().unwrap();
    let mut step = || block_on(run.step()).map(|_| run.state().log.clone());

    let error = step().unwrap_err();
    let failure = failure(&error);
    assert_eq!(
        (failure.node.as_str(), failure.step, failure.attempt, failure.panicked),
        ("left", 1, 1, false)
    );
    assert_eq!(
        format!("{error:?}"),
        "graph `stumbling`: node `left` failed in superstep 1, attempt 1\n  caused by: cannot decide"
    );
    assert!(error.state::<Trace>().unwrap().log.is_empty());
    assert_eq!(context.0.take(), if alone { vec!["left"] } else { vec!["left", "right"] });

    let error = step().unwrap_err();
    assert_eq!(
        format!("{error:?}"),
        "graph `stumbling`: node `left` panicked in superstep 1, attempt 2\n  caused by: gave up"
    );
    assert_eq!(context.0.take(), ["left"], "the result of the sibling is kept");

    context.1.store(false, Ordering::Relaxed);
    let log = step().unwrap();
    assert_eq!(log, if alone { vec!["1:left"] } else { vec!["1:left", "1:right"] });
}

fn failure(error: &superstep::Error) -> &NodeFailure {
    let ErrorKind::Node { first, .. } = error.kind() else { panic!("{error}") };
    first
}

#[test]
fn failing_route_function_fails_its_node() {
    for timed in [false, true] {
        stumbles(true, timed);
        stumbles(false, timed);
    }
}

#[test]
fn failing_start_route_fails_before_the_first_superstep() {
    fn fails(_: &Trace) -> Result<Way, NodeError> {
        Err(NodeError::msg("cannot decide"))
    }
    fn panics(_: &Trace) -> Way {
        panic!("gave up")
    }
    fn empty(_: &Trace) -> Vec<Way> {
        Vec::new()
    }
    let ends = || StateGraph::<Trace>::new().edge(a, END).edge(b, END).edge(item, END).edge(other, END);
    for (graph, text) in [
        (
            ends().route(START, fails),
            "node `START` failed in superstep 0, attempt 1\n  caused by: cannot decide",
        ),
        (
            ends().route(START, panics),
            "node `START` panicked in superstep 0, attempt 1\n  caused by: gave up",
        ),
        (
            ends().route(START, empty),
            "node `START` failed in superstep 0, attempt 1\n  caused by: the list of routes",
        ),
    ] {
        let error = graph.compile().unwrap().run(Trace::input().value(3)).start().unwrap_err();
        assert!(format!("{error:?}").starts_with(&format!("graph `Trace`: {text}")), "{error:?}");
        assert_eq!(error.state::<Trace>().unwrap().value, 3);
    }
}

#[test]
fn empty_list_of_routes_is_an_error_naming_the_node() {
    async fn none() -> Vec<Way> {
        Vec::new()
    }
    async fn beside(_: &Trace, cx: &Context) -> (TraceUpdate, Vec<Way>) {
        (ran(cx), Vec::new())
    }
    fn decide(_: &Trace) -> Vec<Way> {
        Vec::new()
    }
    let ends = || StateGraph::<Trace>::new().edge(a, END).edge(b, END).edge(item, END).edge(other, END);
    for (graph, node) in [
        (ends().edge(START, none), "none"),
        (ends().edge(START, (beside, a)), "beside"),
        (ends().edge(START, (d, a)).route(d, decide), "d"),
        (ends().edge(START, c).route(c, decide), "c"),
    ] {
        let graph = graph.compile().unwrap();
        let error = block_on(graph.run(Trace::input())).unwrap_err();
        assert_eq!(failure(&error).node, node);
        assert!(format!("{error:?}").contains("return a variant that leads"), "{error:?}");
        assert!(error.state::<Trace>().unwrap().log.is_empty());
    }
}

#[test]
fn sibling_routes_apply_in_registration_order() {
    async fn left() -> Vec<Way> {
        tokio::task::yield_now().await;
        vec![Way::Each(Item(1))]
    }
    async fn right() -> Vec<Way> {
        vec![Way::Each(Item(2)), Way::Both]
    }
    let graph = StateGraph::<Trace>::new()
        .edge(START, (left, right))
        .edge(a, END)
        .edge(b, END)
        .edge(item, END)
        .edge(other, END)
        .compile()
        .unwrap();
    let expected = ["2:a", "2:b", "2:item 1", "2:other 1", "2:item 2", "2:other 2"];
    assert_eq!(block_on(graph.run(Trace::input())).unwrap().state().log, expected);
    assert_eq!(workers(2).block_on(graph.run(Trace::input())).unwrap().state().log, expected);
}
