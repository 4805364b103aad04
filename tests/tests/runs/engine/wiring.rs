//! Wiring errors, all reported together when the graph is compiled.

use expect_test::{Expect, expect};
use serde::{Deserialize, Serialize};
use superstep::node::{Choice, Exit};
use superstep::{Context, END, ErrorKind, GraphState, Node, Route, START, StateGraph, StateView, named};

use crate::engine::trace::{Trace, TraceUpdate, nodes, ran};

nodes! { a b c d }

fn graph() -> StateGraph<Trace> {
    StateGraph::<Trace>::new()
}

#[expect(clippy::needless_pass_by_value, reason = "reads like a sentence")]
#[track_caller]
fn check(graph: StateGraph<Trace>, expected: Expect) {
    let error = graph.compile().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Wiring(problems) if !problems.is_empty()));
    expected.assert_eq(&error.to_string());
}

#[derive(Serialize, Deserialize)]
struct Item(u32);

#[derive(Serialize, Deserialize)]
struct Other(u32);

async fn item(_: &Item, cx: &Context) -> TraceUpdate {
    ran(cx)
}

#[derive(Route)]
enum Way {
    #[to(a)]
    A,
    #[to(END)]
    #[expect(dead_code, reason = "the variant is only declared")]
    Out,
}

async fn goes() -> Way {
    Way::A
}

fn decide(_: &Trace) -> Way {
    Way::A
}

#[test]
fn graph_without_nodes_is_refused() {
    check(
        graph(),
        expect![[r#"
        graph `Trace`: cannot be built, it has 1 mistake
          the graph has no nodes: add one with `.edge(START, node)`"#]],
    );
}

#[test]
fn start_without_successor_is_refused() {
    check(
        graph().edge(a, END).edge(b, END),
        expect![[r#"
        graph `Trace`: cannot be built, it has 1 mistake
          nothing follows START: add `.edge(START, ..)` or `.route(START, ..)`"#]],
    );
}

#[test]
fn unreachable_nodes_are_refused() {
    check(
        graph().edge(START, a).edge(a, END).edge(b, c).edge(c, b),
        expect![[r#"
        graph `Trace`: cannot be built, it has 2 mistakes
          node `b` cannot be reached from START: add an edge or a route to it, or remove it
          node `c` cannot be reached from START: add an edge or a route to it, or remove it"#]],
    );
}

#[test]
fn nodes_without_a_successor_are_refused() {
    check(
        graph().edge(START, (a, b)).edge(b, c),
        expect![[r#"
        graph `Trace`: cannot be built, it has 2 mistakes
          node `a` leads nowhere: add `.edge(a, ..)` (to END if it is the last node), or return a route from it
          node `c` leads nowhere: add `.edge(c, ..)` (to END if it is the last node), or return a route from it"#]],
    );
}

#[test]
fn join_that_can_never_fill_is_refused() {
    // An unreachable source, a source after the target, and a target that is its own source.
    check(
        graph().edge(START, a).edge(b, END).join((a, b), c).edge(c, d).edge(d, END),
        expect![[r#"
        graph `Trace`: cannot be built, it has 2 mistakes
          the join into `c` can never fill: `b` cannot be reached before `c`
          node `b` cannot be reached from START: add an edge or a route to it, or remove it"#]],
    );
    check(
        graph().edge(START, a).join((a, b), c).edge(c, b),
        expect![[r#"
        graph `Trace`: cannot be built, it has 1 mistake
          the join into `c` can never fill: `b` cannot be reached before `c`"#]],
    );
    check(
        graph().edge(START, a).join((a, c), c).edge(c, END),
        expect![[r#"
        graph `Trace`: cannot be built, it has 1 mistake
          the join into `c` can never fill: `c` would have to finish before itself"#]],
    );
    check(
        graph().edge(START, a).join((a, b), END).edge(b, END),
        expect![[r#"
        graph `Trace`: cannot be built, it has 2 mistakes
          the join into `END` can never fill: `b` cannot be reached before `END`
          node `b` cannot be reached from START: add an edge or a route to it, or remove it"#]],
    );
}

#[test]
fn duplicate_and_reserved_names_are_refused() {
    check(
        graph()
            .edge(START, (named("x", a), named("x", b)))
            .edge(named("START", c), END)
            .edge(named("", d), END),
        expect![[r#"
            graph `Trace`: cannot be built, it has 6 mistakes
              two nodes are named `x`: give one of them another name with `named("..", x)`
              a node cannot be named `START`: choose another name with `named("..", ..)`
              a node cannot be named ``: choose another name with `named("..", ..)`
              node `x` leads nowhere: add `.edge(x, ..)` (to END if it is the last node), or return a route from it
              node `START` cannot be reached from START: add an edge or a route to it, or remove it
              node `` cannot be reached from START: add an edge or a route to it, or remove it"#]],
    );
    check(
        graph().edge(START, a).edge(a, END).alias(a, "b").edge(a, b).edge(b, END),
        expect![[r#"
        graph `Trace`: cannot be built, it has 1 mistake
          two nodes are named `b`: give one of them another name with `named("..", b)`"#]],
    );
}

#[test]
fn closure_without_a_name_is_refused() {
    check(
        graph().edge(START, async |_: &Trace| {}),
        expect![[r#"
        graph `Trace`: cannot be built, it has 2 mistakes
          a node of type `runs::engine::wiring::closure_without_a_name_is_refused::{{closure}}` has no name of its own: wrap it in `named("..", ..)`
          node `runs::engine::wiring::closure_without_a_name_is_refused::{{closure}}` leads nowhere: add `.edge(runs::engine::wiring::closure_without_a_name_is_refused::{{closure}}, ..)` (to END if it is the last node), or return a route from it"#]],
    );
}

#[test]
fn node_cannot_have_edges_and_a_route() {
    check(
        graph().edge(START, goes).edge(goes, b).edge(a, END).edge(b, END),
        expect![[r#"
        graph `Trace`: cannot be built, it has 1 mistake
          node `goes` has both edges and a route: remove one of the two"#]],
    );
    check(
        graph().edge(START, a).route(START, decide).edge(a, END),
        expect![[r#"
        graph `Trace`: cannot be built, it has 1 mistake
          node `START` has both edges and a route: remove one of the two"#]],
    );
    check(
        graph().edge(START, (b, c)).join((b, c), d).edge(d, END).route(b, decide).edge(a, END),
        expect![[r#"
            graph `Trace`: cannot be built, it has 1 mistake
              node `b` has both edges and a route: remove one of the two"#]],
    );
    check(
        graph().edge(START, goes).route(goes, decide).edge(a, END),
        expect![[r#"
        graph `Trace`: cannot be built, it has 1 mistake
          node `goes` has two routes: keep either one `.route(goes, ..)` or the route that it returns"#]],
    );
    check(
        graph().route(START, decide).route(START, decide).edge(a, END),
        expect![[r#"
        graph `Trace`: cannot be built, it has 1 mistake
          node `START` has two routes: keep either one `.route(START, ..)` or the route that it returns"#]],
    );
}

#[test]
fn route_to_a_missing_node_is_refused() {
    check(
        graph().edge(START, goes),
        expect![[r#"
        graph `Trace`: cannot be built, it has 1 mistake
          the route of node `goes` leads to `a` (by `A`), which is not in the graph: add it with an edge or `.node(a)`"#]],
    );
    check(
        graph().route(START, decide).edge(b, END),
        expect![[r#"
        graph `Trace`: cannot be built, it has 2 mistakes
          the route of node `START` leads to `a` (by `A`), which is not in the graph: add it with an edge or `.node(a)`
          node `b` cannot be reached from START: add an edge or a route to it, or remove it"#]],
    );
}

#[derive(GraphState, Clone)]
struct Order {
    price: u32,
}

#[derive(GraphState, Clone)]
struct Shop {
    #[state(flatten)]
    order: Order,
}

#[derive(StateView)]
#[view(of = Order)]
struct Price<'a> {
    price: &'a u32,
}

struct Ship;

impl Node for Ship {
    type Reads = Order;
    type Output = OrderUpdate;

    async fn run(&self, _: &Order, _: &Context) -> OrderUpdate {
        Order::update()
    }
}

async fn charge(order: &Order) -> OrderUpdate {
    Order::update().price(order.price + 1)
}

async fn round(price: Price<'_>, _: &Item) -> OrderUpdate {
    Order::update().price(price.price / 10 * 10)
}

#[derive(Route)]
#[expect(dead_code, reason = "the variants are only declared")]
enum InOrder {
    #[to(charge)]
    Charge,
    #[to(round)]
    Round(Item),
    #[to(Ship)]
    Ship,
}

async fn order(_: &Trace) -> InOrder {
    InOrder::Charge
}

async fn shop(_: &Shop) -> InOrder {
    InOrder::Charge
}

#[test]
fn route_to_a_node_on_another_state_is_refused() {
    check(
        graph().edge(START, order),
        expect![[r#"
        graph `Trace`: cannot be built, it has 3 mistakes
          the route of node `order` leads to `charge` (by `Charge`), which reads the state `Order`, but the state of this graph is `Trace`: lead to a node that reads `Trace`; or put `charge` into a graph over `Order`, add that graph with `.as_node("charge").mapped(..)`, and write `#[to("charge")]`
          the route of node `order` leads to `round` (by `Round`), which reads the state `Order`, but the state of this graph is `Trace`: lead to a node that reads `Trace`; or put `round` into a graph over `Order`, add that graph with `.as_node("round").mapped(..)`, and write `#[to("round")]`
          the route of node `order` leads to `Ship` (by `Ship`), which reads the state `Order`, but the state of this graph is `Trace`: lead to a node that reads `Trace`; or put `Ship` into a graph over `Order`, add that graph with `.as_node("Ship").mapped(..)`, and write `#[to("Ship")]`"#]],
    );
}

#[test]
fn route_to_a_node_on_a_flattened_state_is_only_missing() {
    let graph = StateGraph::<Shop>::new().edge(START, shop);
    let error = graph.compile().unwrap_err();
    expect![[r#"
        graph `Shop`: cannot be built, it has 3 mistakes
          the route of node `shop` leads to `charge` (by `Charge`), which is not in the graph: add it with an edge or `.node(charge)`
          the route of node `shop` leads to `round` (by `Round`), which is not in the graph: add it with an edge or `.node(round)`
          the route of node `shop` leads to `Ship` (by `Ship`), which is not in the graph: add it with an edge or `.node(Ship)`"#]].assert_eq(&error.to_string());
}

#[derive(Route)]
enum ToOrder {
    #[to("charge")]
    Charge,
}

#[tokio::test]
async fn node_on_another_state_is_reached_through_a_subgraph() {
    async fn order(_: &Trace) -> ToOrder {
        ToOrder::Charge
    }

    let orders = StateGraph::<Order>::new().edge(START, charge).edge(charge, END).compile().unwrap();
    let charge = orders.as_node("charge").mapped(|_: &Trace| Order::input(), |_| Trace::update());
    let graph = graph().edge(START, order).edge(&charge, END).compile().unwrap();
    assert!(graph.run(Trace::input()).await.is_ok());
}

#[test]
fn defer_and_alias_of_missing_nodes_are_refused() {
    check(
        graph().edge(START, a).edge(a, END).defer(b).alias(c, "old"),
        expect![[r#"
        graph `Trace`: cannot be built, it has 2 mistakes
          `b` is deferred, but is not in the graph: add it with an edge or `.node(b)`
          `c` is given an alias, but is not in the graph: add it with an edge or `.node(c)`"#]],
    );
}

#[derive(Route)]
enum ByName {
    #[to("needs")]
    #[expect(dead_code, reason = "the variant is only declared")]
    Without,
    #[to("needs not")]
    With(Item),
    #[to("needs")]
    #[expect(dead_code, reason = "the variant is only declared")]
    Wrong(Other),
}

async fn by_name() -> ByName {
    ByName::With(Item(1))
}

#[test]
fn packet_mismatches_are_refused() {
    check(
        graph().edge(START, by_name).edge(named("needs", item), END).edge(named("needs not", b), END),
        expect![[r#"
            graph `Trace`: cannot be built, it has 3 mistakes
              node `needs` reads the packet `runs::engine::wiring::Item`, but the exit `Without` of node `by_name` leads to it without one: send it a packet there
              the route of node `by_name` sends a `runs::engine::wiring::Item` to node `needs not` (by `With`), which does not read it: give the node a parameter `&runs::engine::wiring::Item`
              the route of node `by_name` sends a `runs::engine::wiring::Other` to node `needs` (by `Wrong`), which does not read it: give the node a parameter `&runs::engine::wiring::Other`"#]],
    );
}

enum Nowhere {}

impl Route for Nowhere {
    fn exits() -> Vec<Exit> {
        Vec::new()
    }

    fn into_choice(self) -> Choice {
        match self {}
    }
}

#[test]
fn route_without_exits_is_refused() {
    async fn stuck() -> Vec<Nowhere> {
        std::future::pending().await
    }
    check(
        graph().edge(START, stuck),
        expect![[r#"
        graph `Trace`: cannot be built, it has 1 mistake
          the route of node `stuck` leads nowhere: add a variant to the route's enum"#]],
    );
}

struct Carries(u32);

impl Node for Carries {
    type Reads = Trace;
    type Output = TraceUpdate;

    async fn run(&self, _: &Trace, _: &Context) -> TraceUpdate {
        Trace::update().value(self.0)
    }
}

#[test]
fn all_wiring_errors_are_reported_together() {
    check(
        graph()
            .name("broken")
            .edge(START, goes)
            .edge(goes, b)
            .edge(c, d)
            .join((b, c), END)
            .edge(named("START", Carries(1)), END)
            .edge(Carries(2), END)
            .defer(item)
            .alias(b, "goes"),
        expect![[r#"
            graph `broken`: cannot be built, it has 12 mistakes
              a node cannot be named `START`: choose another name with `named("..", ..)`
              a node of type `runs::engine::wiring::Carries` has no name of its own: wrap it in `named("..", ..)`
              the route of node `goes` leads to `a` (by `A`), which is not in the graph: add it with an edge or `.node(a)`
              `item` is deferred, but is not in the graph: add it with an edge or `.node(item)`
              two nodes are named `goes`: give one of them another name with `named("..", goes)`
              node `goes` has both edges and a route: remove one of the two
              node `d` leads nowhere: add `.edge(d, ..)` (to END if it is the last node), or return a route from it
              the join into `END` can never fill: `c` cannot be reached before `END`
              node `c` cannot be reached from START: add an edge or a route to it, or remove it
              node `d` cannot be reached from START: add an edge or a route to it, or remove it
              node `START` cannot be reached from START: add an edge or a route to it, or remove it
              node `runs::engine::wiring::Carries` cannot be reached from START: add an edge or a route to it, or remove it"#]],
    );
}
