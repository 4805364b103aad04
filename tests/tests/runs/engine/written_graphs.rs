//! `graph!` makes the graph that the same calls of the builder make.

use serde::{Deserialize, Serialize};
use superstep::subgraph::{ParentCommand, Subgraph};
use superstep::{ContextWith, END, NodeFailure, Route, START, StateGraph, graph, named};

use crate::engine::trace::{Trace, TraceUpdate, nodes, say};

nodes! { a b c gather late }

#[derive(Serialize, Deserialize)]
struct Item(u32);

async fn item(_: &Item) {}

#[derive(Route)]
enum Way {
    #[to(item)]
    Each(Item),
    #[to(a, "b")]
    Both,
    #[to(END)]
    Out,
}

async fn spread(_: &Trace) -> Vec<Way> {
    vec![Way::Both, Way::Each(Item(1)), Way::Out]
}

fn decide(_: &Trace) -> Result<Way, superstep::NodeError> {
    Ok(Way::Both)
}

async fn both(_: &Trace) -> superstep::Result<(TraceUpdate, Way)> {
    Ok((Trace::update(), Way::Out))
}

/// Asserts that two graphs have the same nodes, in the same order, and the same ways.
fn same(written: StateGraph<Trace>, built: StateGraph<Trace>) {
    let (written, built) = (written.compile().unwrap(), built.compile().unwrap());
    assert_eq!(written.shape(), built.shape());
}

#[test]
fn arrows_are_edges() {
    same(
        graph! {
            state Trace;
            START -> a -> (b, c);
            b -> END;
            c -> gather -> END;
        },
        StateGraph::new().edge(START, a).edge(a, (b, c)).edge(b, END).edge(c, gather).edge(gather, END),
    );
}

#[test]
fn double_arrows_are_joins() {
    same(
        graph! {
            state Trace;
            START -> (a, b, c);
            (a, b) => gather -> END;
            (b, c) =>? late -> END
        },
        StateGraph::new()
            .edge(START, (a, b, c))
            .join((a, b), gather)
            .edge(gather, END)
            .join_optional((b, c), late)
            .edge(late, END),
    );
}

#[test]
fn braces_are_the_targets_of_a_route() {
    same(
        graph! {
            state Trace;
            START -> spread -> { item | a | b | END };
            (item, a, b) => both -> { item | a | b | END };
        },
        StateGraph::new().edge(START, spread).node(spread).join((item, a, b), both).node(both),
    );
}

#[test]
fn functions_decide_after_nodes_and_start() {
    same(
        graph! {
            state Trace;
            START -> { item | a | b | END } by decide;
            a -> { item | a | b | END } by |_: &Trace| Way::Out;
            (item, b) => gather -> END;
        },
        StateGraph::new()
            .route(START, decide)
            .route(a, |_: &Trace| Way::Out)
            .join((item, b), gather)
            .edge(gather, END),
    );
}

#[derive(Route)]
enum Hand {
    #[to("worker")]
    Over,
    #[to(END)]
    Done,
}

async fn hand(trace: &Trace) -> Hand {
    if trace.log.is_empty() { Hand::Over } else { Hand::Done }
}

#[test]
fn references_are_values() {
    struct Held {
        bot: Subgraph<Trace, ()>,
    }
    let bot = graph! { state Trace; START -> a -> END; }.compile().unwrap().as_node("bot");
    let held = Held { bot };
    let worker = named("worker", b);
    same(
        graph! {
            state Trace;
            START -> &held.bot -> hand -> { &worker | END };
            &worker -> c -> END;
        },
        StateGraph::new()
            .edge(START, &held.bot)
            .edge(&held.bot, hand)
            .node(hand)
            .edge(&worker, c)
            .edge(c, END),
    );
}

#[test]
fn nodes_that_stand_alone_are_entered_in_other_ways() {
    #[derive(Route)]
    enum Rescue {
        #[to(late)]
        Late,
    }
    async fn rescue(_: &NodeFailure) -> Rescue {
        Rescue::Late
    }
    async fn leave(_: &Trace) -> ParentCommand<Trace> {
        ParentCommand::update(Trace::update())
    }
    let written = graph! {
        state Trace;
        START -> a -> leave -> END;
        late;
        late -> END;
    };
    let built = StateGraph::new().edge(START, a).edge(a, leave).edge(leave, END).node(late).edge(late, END);
    same(written.on_error(a, rescue), built.on_error(a, rescue));
}

#[tokio::test]
async fn context_is_the_second_line() {
    struct Clients(u32);
    async fn reads(_: &Trace, cx: &ContextWith<Clients>) {
        assert_eq!(cx.context().0, 7);
    }
    let graph = graph! {
        state Trace;
        context Clients;
        START -> reads -> END;
    };
    graph.compile().unwrap().run(Trace::input()).context(Clients(7)).await.unwrap();
}

/// The words of the macro are words only where they stand.
#[test]
fn nodes_may_be_called_like_words() {
    async fn state(_: &Trace) {}
    async fn context(_: &Trace) {}
    async fn by(_: &Trace) {}
    same(
        graph! {
            state Trace;
            context -> by -> END;
            START -> state;
            state -> context;
        },
        StateGraph::new().edge(context, by).edge(by, END).edge(START, state).edge(state, context),
    );
}

async fn generic<T: Send + Sync + 'static>(_: &Trace) -> TraceUpdate {
    say(std::any::type_name::<T>())
}

#[test]
fn graphs_may_be_written_in_generic_functions() {
    struct Kit;
    impl Kit {
        async fn tool(_: &Trace) {}

        fn of<T: Send + Sync + 'static>() -> StateGraph<Trace> {
            graph! {
                state Trace;
                START -> generic::<T> -> Self::tool -> END;
            }
        }
    }
    same(
        Kit::of::<u8>(),
        StateGraph::new().edge(START, generic::<u8>).edge(generic::<u8>, Kit::tool).edge(Kit::tool, END),
    );
}

#[test]
fn mistakes_that_the_text_does_not_show_are_those_of_compile() {
    let worker = named("other", b);
    let error = graph! {
        state Trace;
        START -> hand -> { &worker | END };
        &worker -> END;
    };
    let error = error.compile().unwrap_err().to_string();
    assert!(error.contains("`worker`"), "{error}");
}

macro_rules! chain {
    ($state:ty: $($node:path),*) => { graph! { state $state; START $(-> $node)* -> END } };
}

#[test]
fn graphs_may_be_written_by_other_macros() {
    async fn r#type(_: &Trace) {}
    same(
        chain!(Trace: self::a, r#type, b),
        StateGraph::new().edge(START, a).edge(a, r#type).edge(r#type, b).edge(b, END),
    );
}
