//! Nodes as functions, closures and structs, with every kind of parameter.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use superstep::node::{LibraryNode, NodeFor};
use superstep::{
    Context, ContextWith, END, GraphState, Node, NodeError, PacketNode, Route, START, StateGraph, StateView,
    named,
};

use crate::engine::trace::{Trace, TraceUpdate, block_on, say};

struct Deps {
    greeting: String,
}

#[derive(StateView)]
#[view(of = Trace)]
struct Lines<'a> {
    log: &'a [String],
    value: u32,
}

#[derive(StateView)]
#[view(of = Trace)]
struct Value {
    value: u32,
}

#[derive(Serialize, Deserialize)]
struct Item(u32);

async fn nothing() {}

async fn state_only(state: &Trace) -> TraceUpdate {
    say(format!("state {}", state.log.len()))
}

async fn cx_only(cx: &Context) -> TraceUpdate {
    say(cx.node())
}

async fn in_another_order(cx: &ContextWith<Deps>, state: &Trace) -> TraceUpdate {
    say(format!("{} {}", cx.context().greeting, state.log.len()))
}

async fn borrows_a_view(view: Lines<'_>, cx: &Context) -> TraceUpdate {
    tokio::task::yield_now().await;
    say(format!("{} {} {}", cx.node(), view.log.len(), view.value))
}

async fn owns_a_view(view: Value) -> Result<TraceUpdate, NodeError> {
    Ok(say(format!("value {}", view.value)))
}

async fn everything(item: &Item, view: Lines<'_>, state: &Trace, cx: &ContextWith<Deps>) -> TraceUpdate {
    say(format!("{} {} {} {}", item.0, view.log.len(), state.value, cx.context().greeting))
}

struct Repeats {
    text: String,
    times: usize,
}

impl Node for Repeats {
    type Reads = Trace;
    type Output = TraceUpdate;

    async fn run(&self, _: &Trace, cx: &Context) -> TraceUpdate {
        say(format!("{} {}", cx.node(), self.text.repeat(self.times)))
    }
}

struct Greets;

impl Node<ContextWith<Deps>> for Greets {
    type Reads = Trace;
    type Output = (TraceUpdate, Vec<Way>);

    async fn run(&self, state: &Trace, cx: &ContextWith<Deps>) -> Self::Output {
        let ways = vec![Way::Struct(Item(1)), Way::Function(Item(2)), Way::Struct(Item(3))];
        (say(format!("{} {}", cx.context().greeting, state.value)), ways)
    }
}

struct TakesItems;

impl PacketNode<ContextWith<Deps>> for TakesItems {
    type Reads = Trace;
    type Packet = Item;
    type Output = TraceUpdate;

    async fn run(&self, state: &Trace, item: &Item, cx: &ContextWith<Deps>) -> TraceUpdate {
        say(format!("{} {} {}", item.0, state.log.len(), cx.context().greeting))
    }
}

#[derive(Route)]
enum Way {
    #[to(TakesItems)]
    Struct(Item),
    #[to(everything)]
    Function(Item),
}

fn run(graph: StateGraph<Trace, Deps>) -> Vec<String> {
    let graph = graph.compile().unwrap();
    let context = Arc::new(Deps { greeting: "hi".to_owned() });
    let outcome = block_on(graph.run(Trace::input().value(7)).context(context)).unwrap();
    outcome.into_state().log
}

fn graph() -> StateGraph<Trace, Deps> {
    StateGraph::<Trace>::with_context::<Deps>()
}

#[test]
fn function_parameters_can_come_in_any_order() {
    let log = run(graph()
        .edge(START, nothing)
        .edge(nothing, state_only)
        .edge(state_only, cx_only)
        .edge(cx_only, in_another_order)
        .edge(in_another_order, borrows_a_view)
        .edge(borrows_a_view, owns_a_view)
        .edge(owns_a_view, END));
    assert_eq!(log, ["state 0", "cx_only", "hi 2", "borrows_a_view 3 7", "value 7"]);
}

#[test]
fn named_async_closures_are_nodes() {
    let first = named("first", async |state: &Trace, cx: &ContextWith<Deps>| {
        tokio::task::yield_now().await;
        say(format!("{} {} {}", cx.node(), state.value, cx.context().greeting))
    });
    let second = named("second", async |view: Lines<'_>| say(format!("second {}", view.log.len())));
    let log = run(graph().edge(START, &first).edge(first, &second).edge(&second, END));
    assert_eq!(log, ["first 7 hi", "second 1"]);
}

#[test]
fn struct_nodes_carry_data() {
    let twice = named("twice", Repeats { text: "ha".to_owned(), times: 2 });
    let thrice = named("thrice", Repeats { text: "ho".to_owned(), times: 3 });
    let log = run(graph().edge(START, &twice).edge(twice, &thrice).edge(thrice, END));
    assert_eq!(log, ["twice haha", "thrice hohoho"]);
}

#[test]
fn packet_nodes_also_read_state_view_and_context() {
    let log = run(graph().edge(START, Greets).edge(TakesItems, END).edge(everything, END));
    assert_eq!(log, ["hi 7", "1 1 hi", "2 1 7 hi", "3 1 hi"]);
}

#[test]
fn node_without_context_fits_every_graph() {
    let shout = || named("shout", Repeats { text: "!".to_owned(), times: 1 });
    let (here_, there) = (shout(), shout());
    let with = graph().edge(START, &here_).edge(here_, cx_only).edge(cx_only, END);
    assert_eq!(run(with), ["shout !", "cx_only"]);
    let without = StateGraph::<Trace>::new().edge(START, &there).edge(there, cx_only).edge(cx_only, END);
    assert_eq!(crate::engine::trace::log_of(&without.compile().unwrap()), "shout ! cx_only");
}

/// A state to which a library can write.
trait Logged: GraphState {
    fn line(&self, text: &str) -> Self::Update;
}

impl Logged for Trace {
    fn line(&self, text: &str) -> TraceUpdate {
        say(format!("{text} {}", self.log.len()))
    }
}

/// A zero-sized node needs no name, unlike `Ends`.
struct Begins;
struct Ends(&'static str);

#[derive(Route)]
enum Ended {
    #[to(END)]
    Here,
}

impl LibraryNode for Begins {}
impl LibraryNode for Ends {}

impl<S: Logged> NodeFor<S> for Begins {
    type Output = Result<S::Update, NodeError>;

    async fn run(&self, state: &S, cx: &Context) -> Self::Output {
        tokio::task::yield_now().await;
        Ok(state.line(cx.node()))
    }
}

impl<S: Logged> NodeFor<S> for Ends {
    type Output = (S::Update, Ended);

    async fn run(&self, state: &S, cx: &Context) -> Self::Output {
        (state.line(&format!("{} {}", cx.node(), self.0)), Ended::Here)
    }
}

#[test]
fn library_node_runs_over_any_state() {
    let ends = named("ends", Ends("here"));
    let log = run(graph().edge(START, Begins).edge(Begins, cx_only).edge(cx_only, &ends));
    assert_eq!(log, ["Begins 0", "cx_only", "ends here 2"]);
}

#[test]
fn alias_finds_the_renamed_node() {
    #[derive(Route)]
    enum Old {
        #[to("before")]
        Before,
    }
    async fn goes() -> Old {
        Old::Before
    }
    let graph = StateGraph::<Trace>::new()
        .edge(START, goes)
        .edge(cx_only, END)
        .alias(cx_only, "before")
        .alias(cx_only, "long ago")
        .compile()
        .unwrap();
    assert_eq!(graph.nodes().collect::<Vec<_>>(), ["goes", "cx_only"]);
    for name in ["cx_only", "before", "long ago"] {
        assert_eq!(graph.node(name), Some("cx_only"));
    }
    assert_eq!(graph.node("never"), None);
    assert_eq!(crate::engine::trace::log_of(&graph), "cx_only", "a route may use it too");
}
