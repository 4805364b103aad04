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
        let outcome = block_on(graph.run(Talk::input()).into_future()).unwrap();
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
    let error = block_on(graph.run(Talk::input()).into_future()).unwrap_err();
    let ErrorKind::Node { first, .. } = error.kind() else { panic!("{error}") };
    assert_eq!(first.error.to_string(), "two questions `Approve` have the key `k`: give each its own");
}
