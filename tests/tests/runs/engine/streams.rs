//! Event streams.

use serde::Serialize;
use superstep::state::Update as _;
use superstep::{
    Context, ContextWith, END, ErrorKind, Event, EventKind, GraphState, NodeError, Overwrite, START,
    StateGraph, StreamMode,
};

use crate::engine::trace::{block_on, workers};

#[derive(GraphState, Clone, Debug)]
struct Draft {
    #[state(reducer = append)]
    notes: Vec<String>,
    text: String,
    #[state(exclude)]
    token: String,
    #[state(untracked)]
    handle: Option<std::sync::Arc<str>>,
}

#[derive(Serialize, Debug, PartialEq)]
struct Word {
    word: &'static str,
}

async fn write(_: &Draft, cx: &Context) -> DraftUpdate {
    assert!(cx.is_observed());
    cx.emit(Word { word: "one" }).await;
    cx.emit(2_u8).await;
    Draft::update().notes(["w".to_owned()]).text("written").token("hunter2").handle(Some("file".into()))
}

async fn shout(draft: &Draft) -> Result<DraftUpdate, NodeError> {
    if draft.text.is_empty() {
        return Err(NodeError::msg("nothing to shout"));
    }
    Ok(Draft::update().notes(["s".to_owned()]))
}

async fn quiet() {}

/// Formats an event as one line.
fn line(event: &Event<Draft>) -> String {
    let what = match &event.kind {
        EventKind::Values(state) => format!("values {}", state.notes.join("")),
        EventKind::Update { task, update, .. } => {
            format!("update {task} {:?}", update.get(Draft::TEXT))
        }
        EventKind::Custom { task, value, .. } => format!("custom {task} {}", value.to_json().unwrap()),
        EventKind::TaskStarted { task, .. } => format!("started {task}"),
        EventKind::TaskFinished { task, .. } => format!("finished {task}"),
        EventKind::TaskFailed { task, error, .. } => format!("failed {task} {error}"),
        EventKind::Done(outcome) => format!("done {}", outcome.state().notes.join("")),
        _ => unreachable!(),
    };
    format!("{} {} {what}", event.superstep, event.kind.node().unwrap_or("-"))
}

fn graph() -> superstep::Graph<Draft> {
    StateGraph::<Draft>::new()
        .edge(START, write)
        .edge(write, (shout, quiet))
        .edge(shout, END)
        .edge(quiet, END)
        .compile()
        .unwrap()
}

/// Collects all events of a run and checks the invariants of every stream. An error is the last line.
async fn lines(run: superstep::run::Run<Draft, (), superstep::run::NeedsContext>) -> Vec<String> {
    let mut events = run.stream();
    let mut lines = Vec::new();
    let mut sequence = 0;
    while let Some(event) = events.next().await {
        match event {
            Ok(event) => {
                assert_eq!(event.sequence, sequence, "sequence numbers have no gaps");
                assert!(event.namespace.is_empty());
                sequence += 1;
                lines.push(line(&event));
            }
            Err(error) => {
                lines.push(format!("{error:?}"));
                break;
            }
        }
    }
    for _ in 0..2 {
        assert!(events.next().await.is_none(), "nothing comes after the last event");
    }
    lines
}

const ALL: [&str; 16] = [
    "0 - values ",
    "1 write started 0",
    "1 write custom 0 {\"word\":\"one\"}",
    "1 write custom 0 2",
    "1 write finished 0",
    "1 write update 0 Some(\"written\")",
    "1 - values w",
    "2 shout started 0",
    "2 shout finished 0",
    "2 shout update 0 None",
    "2 quiet started 1",
    "2 quiet finished 1",
    "2 quiet update 1 None",
    "2 - values ws",
    "2 - done ws",
    "",
];

#[test]
fn events_arrive_in_order() {
    assert_eq!(block_on(lines(graph().run(Draft::input()))), ALL[..15]);
}

#[test]
fn multi_threaded_run_sends_the_same_events() {
    let mut lines = workers(2).block_on(lines(graph().run(Draft::input())));
    assert_eq!(lines[..7], ALL[..7]);
    assert_eq!(lines[13..], ALL[13..15]);
    lines[7..13].sort();
    let mut expected = ALL[7..13].to_vec();
    expected.sort_unstable();
    assert_eq!(lines[7..13], expected);
}

#[test]
fn only_requested_events_are_created() {
    for (mode, words) in [
        (StreamMode::Values, &["values"][..]),
        (StreamMode::Updates, &["update"]),
        (StreamMode::Custom, &["custom"]),
        (StreamMode::Tasks, &["started", "finished", "failed"]),
    ] {
        let expected: Vec<_> = ALL[..15]
            .iter()
            .filter(|line| words.iter().chain(&["done"]).any(|word| line.contains(word)))
            .copied()
            .collect();
        let graph = match mode {
            // `write` asserts that it is observed.
            StreamMode::Custom => graph(),
            _ => unobserved_graph(),
        };
        assert_eq!(block_on(lines(graph.run(Draft::input()).events([mode]))), expected);
    }
    assert_eq!(block_on(lines(unobserved_graph().run(Draft::input()).events([]))), ["2 - done ws"]);
}

/// The same graph, with a first node that asserts that it is not observed.
fn unobserved_graph() -> superstep::Graph<Draft> {
    async fn unobserved(_: &Draft, cx: &Context) -> DraftUpdate {
        assert!(!cx.is_observed());
        cx.emit(Word { word: "one" }).await;
        Draft::update().notes(["w".to_owned()]).text("written")
    }
    StateGraph::<Draft>::new()
        .edge(START, superstep::named("write", unobserved))
        .edge(superstep::named("write", unobserved), (shout, quiet))
        .edge(shout, END)
        .edge(quiet, END)
        .compile()
        .unwrap()
}

#[test]
fn error_is_the_last_item_of_the_stream() {
    let graph = StateGraph::<Draft>::new()
        .edge(START, (shout, quiet))
        .edge(shout, END)
        .edge(quiet, END)
        .compile()
        .unwrap();
    let run = || graph.run(Draft::input()).on_failure(superstep::FailureMode::Collect);
    assert_eq!(
        block_on(lines(run())),
        [
            "0 - values ",
            "1 shout started 0",
            "1 shout failed 0 node `shout` failed in superstep 1, attempt 1: nothing to shout",
            "1 quiet started 1",
            "1 quiet finished 1",
            "1 quiet update 1 None",
            "graph `Draft`: node `shout` failed in superstep 1, attempt 1\n  caused by: nothing to shout",
        ]
    );
    let refused = lines(graph.run(Draft::input()).max_concurrency(0));
    assert_eq!(
        block_on(refused),
        ["graph `Draft`: `max_concurrency(0)` lets no task run: set it to at least 1"],
        "an error before the first superstep is also the last item"
    );
}

#[test]
fn error_arrives_although_a_stopped_task_blocks() {
    type Gate = std::sync::Mutex<std::sync::mpsc::Receiver<()>>;
    async fn blocks(_: &Draft, cx: &ContextWith<Gate>) -> DraftUpdate {
        // Blocks until the sender is dropped.
        let _ = cx.context().lock().unwrap().recv();
        cx.emit(1_u8).await;
        DraftUpdate::default()
    }
    let graph = StateGraph::<Draft>::with_context::<Gate>()
        .edge(START, (blocks, quiet))
        .edge(blocks, END)
        .edge(quiet, END)
        .compile()
        .unwrap();
    let (open, gate) = std::sync::mpsc::channel();
    let runtime = workers(2);
    runtime.block_on(async {
        let run = graph.run(Draft::input()).context(std::sync::Mutex::new(gate));
        let mut events = run.superstep_timeout(std::time::Duration::from_millis(20)).stream();
        let limit = std::time::Duration::from_secs(30);
        let error = loop {
            match tokio::time::timeout(limit, events.next()).await.unwrap().unwrap() {
                Ok(event) => assert!(!matches!(event.kind, EventKind::Custom { .. })),
                Err(error) => break error,
            }
        };
        assert!(matches!(error.kind(), ErrorKind::SuperstepTimeout { .. }), "{error}");
        drop(open);
        assert!(events.next().await.is_none());
    });
}

#[test]
fn custom_event_is_read_by_type_and_as_json() {
    block_on(async {
        let mut events = graph().run(Draft::input()).events([StreamMode::Custom]).stream();
        let first = events.next().await.unwrap().unwrap();
        let EventKind::Custom { value, .. } = &first.kind else { panic!("{first:?}") };
        assert_eq!(value.get(), Some(&Word { word: "one" }));
        assert_eq!(value.get::<u8>(), None);
        assert_eq!(
            serde_json::to_value(&first).unwrap(),
            serde_json::json!({
                "sequence": 0, "namespace": [], "superstep": 1, "type": "custom", "node": "write", "task": 0,
                "data": { "word": "one" },
            })
        );
    });
}

#[test]
fn serialized_events_hide_excluded_and_untracked_fields() {
    block_on(async {
        let mut events = graph().stream(Draft::input());
        let (mut carried, mut texts) = (0, Vec::new());
        while let Some(event) = events.next().await {
            let event = event.unwrap();
            match &event.kind {
                EventKind::Update { update, .. } => {
                    carried += usize::from(update.get(Draft::TOKEN).is_some_and(|token| token == "hunter2"));
                    carried += usize::from(update.get(Draft::HANDLE).is_some());
                }
                EventKind::Values(state) => carried += usize::from(state.token == "hunter2"),
                EventKind::Done(outcome) => carried += usize::from(outcome.state().token == "hunter2"),
                _ => {}
            }
            texts.push(serde_json::to_string(&event).unwrap());
            texts.push(format!("{event:?}{:?}", event.kind));
        }
        assert_eq!(carried, 5);
        let texts = texts.join("\n");
        assert!(texts.contains("written"), "{texts}");
        for hidden in ["hunter2", "token", "handle", "file"] {
            assert!(!texts.contains(hidden), "`{hidden}` in {texts}");
        }
    });
}

#[test]
fn updates_are_arrays_of_objects_in_json() {
    async fn nothing(_: &Draft) {}
    async fn once(_: &Draft) -> DraftUpdate {
        Draft::update().notes(["a".to_owned()]).text("t")
    }
    async fn thrice(_: &Draft) -> DraftUpdate {
        let update = Draft::update().notes(["b".to_owned()]).notes(Overwrite(vec![]));
        update.notes(["c".to_owned()]).text("u").token("hunter2")
    }
    let graph = StateGraph::<Draft>::new().edge(START, nothing).edge(nothing, once).edge(once, thrice);
    let graph = graph.edge(thrice, END).compile().unwrap();
    let mut updates = Vec::new();
    let run = graph.run(Draft::input()).events([StreamMode::Updates]);
    block_on(run.stream().for_each(|event| {
        let json = serde_json::to_value(event).unwrap();
        if json["type"] == "update" {
            updates.push(json["data"].to_string());
        }
    }))
    .unwrap();
    assert_eq!(
        updates,
        [
            "[]",
            r#"[{"notes":["a"],"text":"t"}]"#,
            r#"[{"notes":["b"],"text":"u"},{"$overwrite":{"notes":[]}},{"notes":["c"]}]"#
        ]
    );
}

#[test]
fn listener_can_keep_weak_references_to_the_state() {
    async fn naps(_: &Draft) -> DraftUpdate {
        // Gives the listener time to receive the earlier events.
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        Draft::update().notes(["n".to_owned()])
    }
    let graph = StateGraph::<Draft>::new().edge(START, naps).edge(naps, END).compile().unwrap();
    let mut states = Vec::new();
    let outcome = block_on(graph.stream(Draft::input()).for_each(|event| {
        if let EventKind::Values(state) = &event.kind {
            states.push(std::sync::Arc::downgrade(state));
        }
    }));
    assert_eq!(outcome.unwrap().into_state().notes, ["n"]);
    assert_eq!(states.len(), 2);
}
