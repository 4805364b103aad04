//! Ids of questions, which are unique and stable across reruns.

use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::{Context, END, ErrorKind, START, StateGraph};

use super::{Talk, TalkUpdate, approve, heard};
use crate::engine::trace::block_on;

#[derive(Serialize, Deserialize)]
struct Odd;

impl Question for Odd {
    type Answer = ();

    fn name() -> &'static str {
        "Approve/0"
    }
}

async fn everything(_: &Talk, cx: &Context) -> TalkUpdate {
    tokio::join!(
        cx.interrupt(approve("")),
        cx.interrupt(approve("")),
        cx.interrupt(approve("")).keyed("0"),
        cx.interrupt(approve("")).keyed(""),
        cx.interrupt(approve("")).keyed("/=0"),
        cx.interrupt(Odd),
        cx.interrupt(Odd).keyed("0"),
    );
    heard("all")
}

async fn other(_: &Talk, cx: &Context) -> TalkUpdate {
    cx.interrupt(approve("")).await;
    heard("other")
}

#[test]
fn question_ids_are_unique_and_stable() {
    let graph = StateGraph::<Talk>::new()
        .edge(START, (everything, other))
        .edge(everything, END)
        .edge(other, END)
        .compile()
        .unwrap();
    let asked = || {
        let outcome = block_on(graph.run(Talk::input())).unwrap();
        outcome.pause().unwrap().interrupts().iter().map(|open| open.id.clone()).collect::<Vec<_>>()
    };
    let mut ids = asked();
    assert_eq!(ids, asked());
    expect_test::expect![[r#"
        1:0/Approve/0
        1:0/Approve/1
        1:0/Approve/=0
        1:0/Approve/=
        1:0/Approve/=%2F=0
        1:0/Approve%2F0/0
        1:0/Approve%2F0/=0
        1:1/Approve/0"#]]
    .assert_eq(&ids.join("\n"));
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 8);
}

#[test]
fn duplicate_question_key_fails_the_task() {
    async fn twice(_: &Talk, cx: &Context) -> TalkUpdate {
        tokio::join!(cx.interrupt(approve("a")).keyed("k"), cx.interrupt(approve("b")).keyed("k"));
        heard("never")
    }
    let graph = StateGraph::<Talk>::new().edge(START, twice).edge(twice, END).compile().unwrap();
    let error = block_on(graph.run(Talk::input())).unwrap_err();
    let ErrorKind::Node { first, .. } = error.kind() else { panic!("{error}") };
    assert_eq!(first.error.to_string(), "two questions `Approve` have the key `k`: give each its own");
}

/// The ids of the questions that a node asks, in their order.
macro_rules! ids_of {
    ($node:ident) => {{
        let graph = StateGraph::<Talk>::new().edge(START, $node).edge($node, END).compile().unwrap();
        let outcome = block_on(graph.run(Talk::input())).unwrap();
        outcome.pause().unwrap().interrupts().iter().map(|open| open.id.clone()).collect::<Vec<_>>()
    }};
}

#[test]
fn second_key_replaces_the_first() {
    async fn ask(_: &Talk, cx: &Context) -> TalkUpdate {
        tokio::join!(
            cx.interrupt(approve("a")).keyed("a").keyed("b"),
            cx.interrupt(approve("b")).keyed("a"),
            cx.interrupt(approve("c")).keyed("c").keyed("c"),
        );
        heard("all")
    }
    assert_eq!(ids_of!(ask), ["1:0/Approve/=b", "1:0/Approve/=a", "1:0/Approve/=c"]);
}

#[test]
fn keys_given_after_other_questions_do_not_shift_numbers() {
    async fn two(_: &Talk, cx: &Context) -> TalkUpdate {
        let (a, b) = (cx.interrupt(approve("a")), cx.interrupt(approve("b")));
        tokio::join!(a.keyed("a"), b.keyed("b"), cx.interrupt(approve("last")));
        heard("all")
    }
    async fn one(_: &Talk, cx: &Context) -> TalkUpdate {
        tokio::join!(cx.interrupt(approve("b")).keyed("b"), cx.interrupt(approve("last")));
        heard("all")
    }
    async fn key_of_the_first(_: &Talk, cx: &Context) -> TalkUpdate {
        let (a, b) = (cx.interrupt(approve("a")), cx.interrupt(approve("b")));
        tokio::join!(a.keyed("a"), b, cx.interrupt(approve("c")), cx.interrupt(approve("d")));
        heard("all")
    }
    assert_eq!(ids_of!(two), ["1:0/Approve/=a", "1:0/Approve/=b", "1:0/Approve/0"]);
    assert_eq!(ids_of!(one), ["1:0/Approve/=b", "1:0/Approve/0"]);
    assert_eq!(
        ids_of!(key_of_the_first),
        ["1:0/Approve/=a", "1:0/Approve/1", "1:0/Approve/0", "1:0/Approve/2"]
    );
}

#[test]
fn key_given_to_an_open_question_moves_it() {
    async fn ask(_: &Talk, cx: &Context) -> TalkUpdate {
        let mut first = cx.interrupt(approve("a"));
        tokio::select! {
            biased;
            _ = &mut first => {}
            () = std::future::ready(()) => {}
        }
        tokio::join!(first.keyed("a"), cx.interrupt(approve("b")));
        heard("all")
    }
    assert_eq!(ids_of!(ask), ["1:0/Approve/=a", "1:0/Approve/0"]);
}
