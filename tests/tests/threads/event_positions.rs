//! Events name the checkpoint and the task that they belong to.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use superstep::checkpoint::CheckpointId;
use superstep::interrupt::Question;
use superstep::messages::{Message, MessagesState, MessagesStateUpdate};
use superstep::thread::{Snapshot, keep_plan};
use superstep::{
    Context, Durability, END, Event, EventKind, Graph, GraphState, START, StateGraph, StreamMode,
};

use super::stores::on_every_store;

#[derive(GraphState, Clone, Debug, PartialEq)]
struct Log {
    #[state(reducer = append)]
    log: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct Go;

impl Question for Go {
    type Answer = bool;
}

async fn left(_: &Log, cx: &Context) -> LogUpdate {
    cx.emit(1).await;
    Log::update().log(["left".to_owned()])
}

async fn right(_: &Log, cx: &Context) -> LogUpdate {
    let _: Result<u8, _> = cx.step("key", async { Ok::<_, std::io::Error>(1_u8) }).await;
    Log::update().log(["right".to_owned()])
}

async fn ask(_: &Log, cx: &Context) -> LogUpdate {
    Log::update().log([format!("asked {}", cx.interrupt(Go).await)])
}

async fn last(_: &Log) -> LogUpdate {
    Log::update().log(["last".to_owned()])
}

fn graph() -> Graph<Log> {
    StateGraph::<Log>::new()
        .edge(START, (left, right))
        .join((left, right), ask)
        .edge(ask, last)
        .edge(last, END)
        .compile()
        .unwrap()
}

async fn collect<S: GraphState>(mut stream: superstep::stream::RunStream<S>) -> Vec<Event<S>> {
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        events.push(event.unwrap());
    }
    events
}

/// Checks each event against the snapshot of the checkpoint that it names.
fn check(events: &[Event<Log>], history: &[Snapshot<Log>]) {
    let by_id: BTreeMap<CheckpointId, &Snapshot<Log>> = history.iter().map(|at| (at.id, at)).collect();
    for event in events {
        let json = serde_json::to_value(event).unwrap();
        let snapshot = by_id[&event.checkpoint.unwrap()];
        assert_eq!(json["checkpoint"], json!(snapshot.id));
        if let Some(task) = event.kind.task() {
            assert_eq!(event.task_id().as_ref(), Some(&snapshot.tasks[task].id), "{json}");
            assert_eq!(json["task_id"], json!(snapshot.tasks[task].id));
            assert_eq!(event.kind.node(), Some(&*snapshot.tasks[task].node));
        } else {
            assert_eq!((event.task_id(), json.get("task_id")), (None, None));
        }
        match &event.kind {
            EventKind::Values(state) => assert_eq!(Some(&**state), snapshot.state.as_ref()),
            EventKind::Checkpoint { id, parent, source, step, next, epoch, .. } => {
                assert_eq!(
                    (*id, *parent, *source, *step),
                    (snapshot.id, snapshot.parent, snapshot.source, snapshot.step)
                );
                assert_eq!((next, *epoch), (&snapshot.next, history[0].epoch));
                let of_snapshot = serde_json::to_value(snapshot).unwrap();
                for entry in ["parent", "source", "step", "next"] {
                    assert_eq!(json[entry], of_snapshot[entry], "{entry}");
                }
            }
            _ => {}
        }
    }
}

#[tokio::test]
async fn events_name_their_checkpoint_and_task() {
    on_every_store(async |store| {
        let thread = store.thread(&graph());
        let events = collect(thread.run(Log::input()).events(StreamMode::ALL).stream()).await;
        check(&events, &thread.history().await.unwrap());
        assert!(events.iter().any(|event| matches!(event.kind, EventKind::StepFinished { .. })));
        let answer = thread.interrupts().await.unwrap().interrupts()[0].answer_json(json!(true));
        let events = collect(thread.resume(answer).events(StreamMode::ALL).stream()).await;
        check(&events, &thread.history().await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn tasks_of_a_kept_plan_keep_their_ids_in_events() {
    on_every_store(async |store| {
        let thread = store.thread(&graph());
        thread.run(Log::input()).await.unwrap();
        let before = thread.state().await.unwrap().unwrap().tasks[0].id.clone();
        thread.update(Log::update().log(["edited".to_owned()]), keep_plan()).await.unwrap();
        let answer = thread.interrupts().await.unwrap().interrupts()[0].answer_json(json!(true));
        let events = collect(thread.resume(answer).events(StreamMode::ALL).stream()).await;
        check(&events, &thread.history().await.unwrap());
        assert!(events.iter().any(|event| event.task_id().as_ref() == Some(&before)));
    })
    .await;
}

#[tokio::test]
async fn events_of_a_run_without_a_store_name_no_checkpoint() {
    let events = collect(graph().run(Log::input()).events(StreamMode::ALL).stream()).await;
    for event in events {
        let json = serde_json::to_value(&event).unwrap();
        assert_eq!((event.checkpoint, event.task_id()), (None, None));
        assert_eq!((json.get("checkpoint"), json.get("task_id")), (None, None), "{json}");
    }
}

#[tokio::test]
async fn merged_checkpoints_are_not_announced() {
    on_every_store(async |store| {
        let thread = store.thread(&graph());
        let run = thread.run(Log::input()).durability(Durability::Exit);
        let mut events = collect(run.events([StreamMode::Checkpoints]).stream()).await;
        let answer = thread.interrupts().await.unwrap().interrupts()[0].answer_json(json!(true));
        let run = thread.resume(answer).durability(Durability::Exit);
        events.extend(collect(run.events([StreamMode::Checkpoints]).stream()).await);
        let announced = |event: &Event<Log>| match &event.kind {
            EventKind::Checkpoint { id, parent, .. } => Some((*id, *parent)),
            _ => None,
        };
        let announced: Vec<_> = events.iter().filter_map(announced).collect();
        let mut stored: Vec<_> =
            thread.history().await.unwrap().iter().map(|at| (at.id, at.parent)).collect();
        stored.reverse();
        assert_eq!(announced, stored);
    })
    .await;
}

async fn reply(_: &MessagesState) -> MessagesStateUpdate {
    MessagesState::update().messages(Message::ai("hello"))
}

#[tokio::test]
async fn client_can_show_each_message_of_a_subgraph_once() {
    on_every_store(async |store| {
        let inner = StateGraph::<MessagesState>::new().edge(START, reply).edge(reply, END).compile().unwrap();
        let inner = inner.as_node("inner");
        let graph =
            StateGraph::<MessagesState>::new().edge(START, &inner).edge(&inner, reply).edge(reply, END);
        let thread = store.thread(&graph.compile().unwrap());
        let run = thread.run(MessagesState::input().messages("hi"));
        let events = collect(run.events([StreamMode::Updates]).stream()).await;
        let events: Vec<Value> = events.iter().map(|event| serde_json::to_value(event).unwrap()).collect();
        let updates: Vec<&Value> = events.iter().filter(|event| event["type"] == "update").collect();
        let marks: Vec<_> = updates
            .iter()
            .map(|event| (&event["namespace"], event["node"].as_str().unwrap(), &event["subgraph"]))
            .collect();
        let (here, inside) = (json!([]), json!(["inner"]));
        assert_eq!(
            marks,
            [
                (&inside, "reply", &Value::Null),
                (&here, "inner", &json!(true)),
                (&here, "reply", &Value::Null)
            ]
        );
        let id = |event: &Value| event["data"][0]["messages"][0]["id"].clone();
        assert!(id(updates[0]).is_string());
        assert_eq!(id(updates[0]), id(updates[1]));
        assert_ne!(id(updates[0]), id(updates[2]));
        let calls = thread.within(&inner).history().await.unwrap();
        assert!(
            calls.iter().flat_map(|call| &call.tasks).any(|task| updates[0]["task_id"] == json!(task.id))
        );
        let tasks = thread.history().await.unwrap();
        assert!(tasks.iter().flat_map(|at| &at.tasks).any(|task| updates[1]["task_id"] == json!(task.id)));
    })
    .await;
}
