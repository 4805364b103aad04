//! The states of threads, as clients see them.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use superstep::checkpoint::CheckpointId;
use superstep::thread::{CallSnapshot, TaskStatus};

use crate::graphs::{StateView, TaskView, checkpoint_uuid, task_uuid};
use crate::protocol::{CheckpointConfig, Object, ThreadId, Timestamp};
use crate::stream::{interrupts_json, update_json};

/// The state of a thread, or of a subgraph call.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ThreadState {
    /// The state, as the `state_schema` of the graph describes it.
    #[schemars(with = "Object")]
    values: Values,
    /// The nodes that run next.
    next: Vec<String>,
    /// The planned tasks.
    tasks: Vec<TaskJson>,
    /// The metadata of the checkpoint.
    metadata: Option<Object>,
    /// The time of creation of the checkpoint.
    created_at: Option<Timestamp>,
    /// The checkpoint.
    checkpoint: Option<CheckpointConfig>,
    /// The checkpoint before it.
    parent_checkpoint: Option<CheckpointConfig>,
    /// The open questions.
    #[schemars(with = "Vec<super::thread_json::InterruptJson>")]
    interrupts: Value,
    /// The id of the checkpoint.
    checkpoint_id: Option<String>,
    /// The id of the checkpoint before it.
    parent_checkpoint_id: Option<String>,
}

/// A task of a state.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ThreadTask")]
struct TaskJson {
    /// The id.
    id: String,
    /// The node.
    name: String,
    /// The place of the node.
    path: [String; 2],
    /// The error with which the task has failed.
    error: Option<String>,
    /// The questions of the task.
    #[schemars(with = "Vec<super::thread_json::InterruptJson>")]
    interrupts: Value,
    /// The checkpoint of the subgraph that the task has called.
    checkpoint: Option<CheckpointConfig>,
    /// The state of that subgraph.
    #[schemars(with = "Option<Box<ThreadState>>")]
    state: Option<Box<ThreadState>>,
    /// The update that the task has returned.
    result: Option<Value>,
}

/// The parts of a state that are shown.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Show {
    pub(super) nested: bool,
    pub(super) latest: bool,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Values {
    Raw(Box<RawValue>),
    Json(Value),
}

/// The names that clients know for START and END.
fn node_name(node: &str) -> &str {
    match node {
        "START" => "__start__",
        "END" => "__end__",
        other => other,
    }
}

impl ThreadState {
    /// The state of a thread without a checkpoint.
    pub(super) fn empty() -> Self {
        Self {
            values: Values::Json(json!({})),
            next: Vec::new(),
            tasks: Vec::new(),
            metadata: None,
            created_at: None,
            checkpoint: None,
            parent_checkpoint: None,
            interrupts: json!([]),
            checkpoint_id: None,
            parent_checkpoint_id: None,
        }
    }

    /// The state of a thread. Tasks that have called subgraphs name the checkpoints of the calls; with `nested`, they have
    /// the states of the calls.
    ///
    /// `next` has all tasks that were planned there. Of the `latest` state, it has those that have not finished.
    pub(super) fn of(
        thread: ThreadId,
        view: StateView,
        calls: &[CallSnapshot],
        Show { nested, latest }: Show,
    ) -> Self {
        let next = view.tasks.iter().filter(|task| !latest || task.result.is_none());
        let next = next.map(|task| node_name(&task.node).to_owned()).collect();
        let interrupts = interrupts_json(view.interrupts());
        let tasks = view.tasks.iter().enumerate().map(|(index, task)| {
            let call = calls.iter().find(|call| call.task == Some(index));
            task_json(thread, task, call, nested)
        });
        let tasks = tasks.collect();
        let mut metadata = view.metadata;
        let own = [("source", json!(view.source)), ("step", json!(view.step)), ("thread_id", json!(thread))];
        metadata.extend(own.map(|(key, value)| (key.to_owned(), value)));
        metadata.entry("parents").or_insert_with(|| json!({}));
        Self {
            values: view.values.map_or_else(|| Values::Json(json!({})), Values::Raw),
            next,
            tasks,
            metadata: Some(metadata),
            created_at: Some(view.created_at.into()),
            interrupts,
            ..Self::at(thread, "", view.id, view.parent)
        }
    }

    /// The state of a subgraph call in a namespace.
    pub(super) fn of_call(thread: ThreadId, namespace: &str, call: &CallSnapshot, nested: bool) -> Self {
        let pending = call.tasks.iter().filter(|task| task.status != TaskStatus::Finished);
        let tasks = call.tasks.iter().enumerate().map(|(index, task)| {
            let id = task_uuid(&task.id);
            let place = format!("{namespace}|{}:{id}", task.node);
            let inner = call.calls.iter().find(|call| call.task == Some(index));
            TaskJson {
                name: node_name(&task.node).to_owned(),
                path: ["__pregel_pull".to_owned(), node_name(&task.node).to_owned()],
                error: task.error.as_ref().map(|error| error.text.to_string()),
                interrupts: interrupts_json(&task.interrupts),
                checkpoint: inner.map(|_| config(thread, &place, None)),
                state: inner
                    .filter(|_| nested)
                    .map(|inner| Box::new(Self::of_call(thread, &place, inner, true))),
                result: None,
                id,
            }
        });
        let metadata =
            json!({ "source": call.source, "step": call.step, "run_id": call.run_id, "thread_id": thread });
        Self {
            values: Values::Json(call.state.clone().unwrap_or_else(|| json!({}))),
            next: pending.map(|task| node_name(&task.node).to_owned()).collect(),
            tasks: tasks.collect(),
            metadata: metadata.as_object().cloned(),
            created_at: Some(call.created_at.into()),
            interrupts: interrupts_json(call.tasks.iter().flat_map(|task| &task.interrupts)),
            ..Self::at(thread, namespace, call.id, call.parent)
        }
    }

    fn at(thread: ThreadId, namespace: &str, id: CheckpointId, parent: Option<CheckpointId>) -> Self {
        Self {
            checkpoint: Some(config(thread, namespace, Some(id))),
            parent_checkpoint: parent.map(|parent| config(thread, namespace, Some(parent))),
            checkpoint_id: Some(checkpoint_uuid(id)),
            parent_checkpoint_id: parent.map(checkpoint_uuid),
            ..Self::empty()
        }
    }
}

/// Names a checkpoint.
pub(super) fn config(thread: ThreadId, namespace: &str, id: Option<CheckpointId>) -> CheckpointConfig {
    CheckpointConfig {
        checkpoint_id: id.map(checkpoint_uuid),
        checkpoint_ns: namespace.to_owned(),
        thread_id: Some(thread.to_string()),
    }
}

fn task_json(thread: ThreadId, task: &TaskView, call: Option<&CallSnapshot>, nested: bool) -> TaskJson {
    let id = task_uuid(&task.id);
    let place = format!("{}:{id}", task.node);
    TaskJson {
        name: node_name(&task.node).to_owned(),
        path: ["__pregel_pull".to_owned(), node_name(&task.node).to_owned()],
        error: task.error.clone(),
        interrupts: interrupts_json(&task.interrupts),
        checkpoint: call.map(|_| config(thread, &place, None)),
        state: call.filter(|_| nested).map(|call| Box::new(ThreadState::of_call(thread, &place, call, true))),
        result: task.result.clone().map(update_json),
        id,
    }
}

/// Finds the call in a namespace as clients name it: `node:task|node:task`.
pub(super) fn find_call<'c>(
    view: &StateView,
    calls: &'c [CallSnapshot],
    namespace: &str,
) -> Option<&'c CallSnapshot> {
    let mut parts = namespace.split('|');
    let ids: Vec<&str> = view.tasks.iter().map(|task| task.id.as_str()).collect();
    let mut found = call_of(parts.next()?, calls, &ids)?;
    for part in parts {
        let ids: Vec<&str> = found.tasks.iter().map(|task| task.id.as_str()).collect();
        found = call_of(part, &found.calls, &ids)?;
    }
    Some(found)
}

fn call_of<'c>(part: &str, calls: &'c [CallSnapshot], tasks: &[&str]) -> Option<&'c CallSnapshot> {
    let (node, task) = part.split_once(':').map_or((part, None), |(node, task)| (node, Some(task)));
    calls.iter().find(|call| {
        let is_node = call.path.last().is_some_and(|last| last == node);
        let id = call.task.and_then(|index| tasks.get(index)).map(|id| task_uuid(id));
        is_node && task.is_none_or(|task| id.as_deref() == Some(task))
    })
}
