//! Streamed message chunks.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use superstep::messages::{AiMessage, MessageAssembler, MessageChunk, ToolCall};
use superstep::{Context, END, Event, EventKind, Graph, GraphState, START, StateGraph, StreamMode};

use crate::engine::trace::{block_on, workers};

#[derive(GraphState, Clone, Debug)]
struct Talk {
    #[state(reducer = append, exclude)]
    said: Vec<String>,
}

async fn left(_: &Talk, cx: &Context) -> TalkUpdate {
    speak(cx, "left", &["good ", "morning"]).await
}

async fn right(_: &Talk, cx: &Context) -> TalkUpdate {
    speak(cx, "right", &["good ", "night"]).await
}

/// Sends each word as a token, with a custom event after it.
async fn speak(cx: &Context, id: &str, words: &[&str]) -> TalkUpdate {
    let mut whole = MessageAssembler::default();
    for word in words {
        let chunk = MessageChunk::text(*word).id(id);
        whole.push(&chunk);
        cx.token(chunk).await;
        cx.emit(1_u8).await;
    }
    Talk::update().said([whole.finish().content.text().into_owned()])
}

fn graph() -> Graph<Talk> {
    StateGraph::<Talk>::new().edge(START, (left, right)).edge(left, END).edge(right, END).compile().unwrap()
}

async fn events(graph: Graph<Talk>, modes: &[StreamMode]) -> Vec<Event<Talk>> {
    let mut run = graph.run(Talk::input()).events(modes.iter().copied()).stream();
    let mut events = Vec::new();
    while let Some(event) = run.next().await {
        events.push(event.unwrap());
    }
    events
}

/// Assembles the message of each node from its chunks.
fn messages_by_node(events: &[Event<Talk>]) -> [String; 2] {
    ["left", "right"].map(|name| {
        let mut whole = MessageAssembler::default();
        for event in events {
            match &event.kind {
                EventKind::Message { node, chunk, .. } if &**node == name => {
                    assert_eq!(chunk.id.as_deref(), Some(name));
                    whole.push(chunk);
                }
                _ => {}
            }
        }
        whole.finish().content.text().into_owned()
    })
}

#[test]
fn message_listener_receives_every_chunk_in_order() {
    let alone = block_on(events(graph(), &[StreamMode::Messages]));
    let among_others = block_on(events(graph(), &StreamMode::ALL));
    let on_threads = workers(2).block_on(events(graph(), &StreamMode::ALL));
    for events in [&alone, &among_others, &on_threads] {
        assert_eq!(messages_by_node(events), ["good morning", "good night"]);
        let sequence: Vec<u64> = events.iter().map(|event| event.sequence).collect();
        assert_eq!(sequence, (0..events.len() as u64).collect::<Vec<_>>(), "sequence numbers have no gaps");
    }
    assert_eq!(alone.len(), 5, "four chunks and the end: {alone:?}");
}

#[test]
fn other_stream_modes_receive_no_chunks() {
    let others: Vec<StreamMode> =
        StreamMode::ALL.into_iter().filter(|mode| *mode != StreamMode::Messages).collect();
    for modes in [&others[..], &[StreamMode::Custom], &[]] {
        let events = block_on(events(graph(), modes));
        assert!(events.iter().all(|event| event.kind.name() != "message"), "{events:?}");
    }
    let custom = block_on(events(graph(), &[StreamMode::Custom]));
    assert_eq!(custom.len(), 5, "custom events are still sent: {custom:?}");
}

#[test]
fn chunk_serializes_as_a_message_event() {
    async fn call(_: &Talk, cx: &Context) {
        cx.token(&AiMessage::new("").call(ToolCall::new("c", "clock").arg("zone", "utc"))).await;
    }
    let graph = StateGraph::<Talk>::new().edge(START, call).edge(call, END).compile().unwrap();
    let events = block_on(events(graph, &[StreamMode::Messages]));
    assert_eq!(
        serde_json::to_value(&events[0]).unwrap(),
        json!({
            "sequence": 0, "namespace": [], "superstep": 1, "type": "message", "node": "call", "task": 0,
            "data": {"tool_call_chunks": [{"index": 0, "id": "c", "name": "clock", "args": r#"{"zone":"utc"}"#}]},
        })
    );
}

/// Counts its conversions into a chunk.
struct Counted(&'static AtomicUsize);

impl From<Counted> for MessageChunk {
    fn from(Counted(made): Counted) -> Self {
        made.fetch_add(1, Ordering::Relaxed);
        Self::text("made")
    }
}

#[test]
fn chunks_are_created_only_if_requested() {
    static MADE: AtomicUsize = AtomicUsize::new(0);
    async fn tell(_: &Talk, cx: &Context) -> TalkUpdate {
        cx.token(Counted(&MADE)).await;
        Talk::update().said([format!("custom {}, tokens {}", cx.is_observed(), cx.wants_tokens())])
    }
    let graph = StateGraph::<Talk>::new().edge(START, tell).edge(tell, END).compile().unwrap();
    let said = |modes: Option<&[StreamMode]>| {
        let run = graph.run(Talk::input());
        let outcome = match modes {
            None => block_on(run),
            Some(modes) => block_on(run.events(modes.iter().copied()).stream().for_each(|_| {})),
        };
        (outcome.unwrap().into_state().said.concat(), MADE.load(Ordering::Relaxed))
    };
    assert_eq!(said(None), ("custom false, tokens false".to_owned(), 0));
    assert_eq!(said(Some(&[])), ("custom false, tokens false".to_owned(), 0));
    assert_eq!(said(Some(&[StreamMode::Custom])), ("custom true, tokens false".to_owned(), 0));
    assert_eq!(said(Some(&[StreamMode::Messages])), ("custom false, tokens true".to_owned(), 1));
    assert_eq!(said(Some(&StreamMode::ALL)), ("custom true, tokens true".to_owned(), 2));

    block_on(async {
        let cx = Context::detached("tell");
        cx.token(Counted(&MADE)).await;
        assert!(!cx.wants_tokens());
    });
    assert_eq!(MADE.load(Ordering::Relaxed), 2, "a detached context has no listener");
}

#[test]
fn token_sender_waits_for_its_listener() {
    async fn talks(_: &Talk, cx: &Context) {
        for number in 0..1000 {
            cx.token(MessageChunk::text(number.to_string())).await;
        }
    }
    let graph = StateGraph::<Talk>::new().edge(START, talks).edge(talks, END).compile().unwrap();
    let events = block_on(events(graph, &[StreamMode::Messages]));
    let numbers = events.iter().filter_map(|event| match &event.kind {
        EventKind::Message { chunk, .. } => Some(chunk.text.parse().unwrap()),
        _ => None,
    });
    assert_eq!(numbers.collect::<Vec<u32>>(), (0..1000).collect::<Vec<_>>());
}
