//! Interrupts in event streams.

use serde_json::json;
use superstep::{Context, END, EventKind, Graph, START, StateGraph, StreamMode};

use super::{Talk, TalkUpdate, approve, heard};
use crate::engine::trace::{block_on, workers};

async fn ask(_: &Talk, cx: &Context) -> TalkUpdate {
    let (a, b) = tokio::join!(cx.interrupt(approve("a")), cx.interrupt(approve("b")).keyed("b"));
    heard(format!("{a} {b}"))
}

async fn plain(_: &Talk) -> TalkUpdate {
    heard("plain")
}

fn alone() -> Graph<Talk> {
    StateGraph::<Talk>::new().edge(START, ask).edge(ask, END).compile().unwrap()
}

async fn json_events(graph: &Graph<Talk>, modes: &[StreamMode]) -> Vec<serde_json::Value> {
    let mut events = graph.run(Talk::input()).events(modes.iter().copied()).stream();
    let mut json = Vec::new();
    while let Some(event) = events.next().await {
        let event = event.unwrap();
        assert!(!matches!(&event.kind, EventKind::Done(outcome) if outcome.pause().is_none()));
        json.push(serde_json::to_value(&event).unwrap());
    }
    json
}

#[test]
fn stream_reports_each_question_and_the_interruption() {
    let events = block_on(json_events(&alone(), &[StreamMode::Interrupts]));
    let a = json!({
        "id": "1:0/Approve/0", "node": "ask", "task": 0, "name": "Approve", "question": {"what": "a"},
        "answer_schema": {"type": "boolean"},
    });
    let b = json!({
        "id": "1:0/Approve/=b", "node": "ask", "task": 0, "name": "Approve", "key": "b", "question": {"what": "b"},
        "answer_schema": {"type": "boolean"},
    });
    assert_eq!(
        events,
        [
            json!({
                "sequence": 0, "namespace": [], "superstep": 1, "type": "interrupt", "node": "ask", "task": 0, "data": a
            }),
            json!({
                "sequence": 1, "namespace": [], "superstep": 1, "type": "interrupt", "node": "ask", "task": 0, "data": b
            }),
            json!({
                "sequence": 2, "namespace": [], "superstep": 0, "type": "interrupted",
                "data": {"heard": [], "round": 0}, "interrupts": [a, b], "before": [], "after": [],
                "next": ["ask"]
            }),
        ]
    );
}

#[test]
fn final_event_reports_questions_to_other_listeners() {
    let kinds = |events: Vec<serde_json::Value>| -> Vec<String> {
        events.iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(kinds(block_on(json_events(&alone(), &[]))), ["interrupted"]);
    let tasks = [StreamMode::Tasks];
    // A suspended task has neither finished nor failed.
    assert_eq!(kinds(block_on(json_events(&alone(), &tasks))), ["task_started", "interrupted"]);
    let fan = StateGraph::<Talk>::new()
        .edge(START, (ask, plain))
        .edge(ask, END)
        .edge(plain, END)
        .compile()
        .unwrap();
    let ended = |mut kinds: Vec<String>| {
        kinds.sort();
        kinds.join(" ")
    };
    let expected = "interrupted task_finished task_started task_started";
    assert_eq!(ended(kinds(block_on(json_events(&fan, &tasks)))), expected);
    assert_eq!(ended(kinds(workers(2).block_on(json_events(&fan, &tasks)))), expected);
}
