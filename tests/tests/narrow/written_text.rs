//! `graph!` makes the same graphs, allows those that may run, and has the word `defer`.
//!
//! The graphs that rustc refuses are compile-fail cases.

use superstep::{GraphState, Overwrite, Route, StateGraph, StateUpdate, graph, named};

#[derive(GraphState, Clone)]
struct Ticket {
    answer: String,
    #[state(reducer = append)]
    notes: Vec<String>,
}

#[derive(StateUpdate)]
#[update(of = Ticket)]
struct Answered {
    answer: &'static str,
}

#[derive(StateUpdate)]
#[update(of = Ticket)]
struct Noted {
    notes: [String; 1],
}

#[derive(StateUpdate)]
#[update(of = Ticket)]
struct Replaced {
    answer: Overwrite<String>,
}

async fn before(_: &Ticket) {}
async fn one(_: &Ticket) -> Answered {
    Answered { answer: "one" }
}
async fn two(_: &Ticket) -> Answered {
    Answered { answer: "two" }
}
async fn note(_: &Ticket) -> Noted {
    Noted { notes: ["noted".to_owned()] }
}
async fn whole(_: &Ticket) -> TicketUpdate {
    Ticket::update().notes(["whole".to_owned()])
}
async fn replace(_: &Ticket) -> Replaced {
    Replaced { answer: Overwrite("replaced".to_owned()) }
}
async fn of_any<T: Default + Into<u64>>(_: &Ticket) -> Answered {
    Answered { answer: if T::default().into() == 0 { "zero" } else { "other" } }
}
async fn choose(_: &Ticket) -> Way {
    Way::One
}

#[derive(Route)]
enum Way {
    #[to(one)]
    One,
    #[to(two)]
    #[expect(dead_code, reason = "the graph does not go there")]
    Two,
}

async fn run(graph: StateGraph<Ticket>) -> Ticket {
    graph.compile().unwrap().run(Ticket::input()).await.unwrap().into_state()
}

#[tokio::test]
async fn deferred_node_runs_after_the_others() {
    let deferred = graph! {
        state Ticket;
        START -> (two, one);
        defer two;
        one -> END;
        two -> END;
    };
    assert_eq!(run(deferred).await.answer, "two");
    let both = graph! {
        state Ticket;
        START -> (note, whole);
        defer (note, whole);
        note -> END;
        whole -> END;
    };
    assert_eq!(run(both).await.notes, ["noted", "whole"]);
}

#[tokio::test]
async fn node_may_be_called_defer() {
    async fn defer(_: &Ticket) -> Answered {
        Answered { answer: "a node" }
    }
    let graph = graph! {
        state Ticket;
        START -> defer;
        defer -> END;
    };
    assert_eq!(run(graph).await.answer, "a node");
}

#[tokio::test]
async fn overwriting_node_allows_two_writers() {
    let graph = graph! {
        state Ticket;
        START -> (one, two, replace);
        one -> END;
        two -> END;
        replace -> END;
    };
    assert_eq!(run(graph).await.answer, "replaced");
}

/// The text compiles, and `compile()` decides.
#[test]
fn text_is_allowed_where_it_is_not_certain() {
    let value = named("value", async |_: &Ticket| Answered { answer: "value" });
    let refused = [
        // The fields of a value and of a generic function are unknown to a constant.
        graph! { state Ticket; START -> (one, &value); one -> END; &value -> END; },
        graph! { state Ticket; START -> (one, of_any::<u8>); one -> END; of_any::<u8> -> END; },
        graph! { state Ticket; START -> (one, two, &value); one -> END; two -> END; &value -> END; },
    ];
    assert!(refused.into_iter().all(|graph| graph.compile().is_err()));
    let allowed = [
        graph! { state Ticket; START -> (one, whole); one -> END; whole -> END; },
        graph! { state Ticket; START -> (one, two, whole); one -> END; two -> END; whole -> END; },
        graph! { state Ticket; START -> (before, note); before -> (one, two); note -> whole; one -> END; two -> END; whole -> END; },
        graph! { state Ticket; START -> choose -> { one | two }; one -> END; two -> END; },
        graph! { state Ticket; START -> (one, note); one -> two; note -> END; two -> END; },
    ];
    assert!(allowed.into_iter().all(|graph| graph.compile().is_ok()));
}
