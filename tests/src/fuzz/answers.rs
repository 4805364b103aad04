//! Questions and answers as JSON.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use superstep::checkpoint::MemoryCheckpointer;
use superstep::interrupt::{OpenInterrupt, Question};
use superstep::{Context, END, GraphState, Outcome, START, StateGraph};

use super::json::{Shape, Untagged};
use super::stored::{block_on, typed};

#[derive(Serialize, Deserialize)]
struct Sure {
    what: Shape,
}

impl Question for Sure {
    type Answer = Vec<Untagged>;
}

#[derive(GraphState, Clone, Debug)]
struct Reply {
    given: Vec<Untagged>,
}

async fn ask(_: &Reply, cx: &Context) -> ReplyUpdate {
    Reply::update().given(cx.interrupt(Sure { what: Shape::Newtype(1.5) }).await)
}

/// An answer that does not fit is refused, and the question can be answered afterwards.
pub(super) fn answer(bytes: &[u8]) {
    if let Ok(open) = serde_json::from_slice::<OpenInterrupt>(bytes) {
        let _ = open.read::<Sure>().map_err(|error| assert!(!error.to_string().contains("panicked")));
        let again: OpenInterrupt = serde_json::from_value(serde_json::to_value(&open).unwrap()).unwrap();
        assert_eq!(again, open);
    }
    let Ok(json) = serde_json::from_slice::<Value>(bytes) else { return };
    let graph = StateGraph::<Reply>::new().edge(START, ask).edge(ask, END).compile().unwrap();
    block_on(async {
        let thread = graph.with_checkpointer(MemoryCheckpointer::new()).thread("t");
        typed(thread.run(Reply::input()).await);
        let pause = thread.interrupts().await.unwrap();
        let outcome = match typed(thread.resume(pause.answer_json(json).unwrap()).await) {
            Some(outcome) => outcome,
            None => {
                let asked = thread.interrupts().await.unwrap().only::<Sure>().unwrap();
                thread.resume(asked.answer(Vec::new())).await.unwrap()
            }
        };
        assert!(matches!(outcome, Outcome::Done(_)), "{outcome:?}");
        superstep::payload::to_payload(&outcome.state().given).unwrap();
    });
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    [
        r#"[1,[2,{"name":"n","x":1.5}]]"#,
        "[]",
        "[1e300]",
        r#"{"id":"i","node":"ask","task":0,"name":"Sure","question":{"what":{"Newtype":1.5}},"key":"k","namespace":["a"]}"#,
        r#"{"id":"i","node":"ask","task":0,"name":"Sure","question":{"what":{"Newtype":1e300}}}"#,
    ]
    .map(|text| text.as_bytes().to_vec())
    .into()
}
