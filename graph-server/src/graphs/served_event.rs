//! Events of runs without the types of their states.

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};
use superstep::checkpoint::CheckpointId;
use superstep::interrupt::{OpenInterrupt, Pause};
use superstep::{Event, EventKind, GraphState, Outcome};

use super::{RunFailure, task_uuid};

/// An event of a run.
#[derive(Debug)]
pub(crate) struct ServedEvent {
    /// The path of subgraph calls, each as `node:task`, with the id of the task as clients see it.
    pub(crate) namespace: Vec<String>,
    pub(crate) superstep: u64,
    pub(crate) checkpoint: Option<CheckpointId>,
    /// The id of the task, for events of tasks.
    pub(crate) task_id: Option<String>,
    /// The node of the task.
    pub(crate) node: String,
    pub(crate) kind: ServedKind,
}

/// The kind of an event, with its data as JSON.
#[derive(Debug)]
pub(crate) enum ServedKind {
    Values(Box<RawValue>),
    /// The writes of a node: an array of objects.
    Update {
        writes: Value,
        restored: bool,
    },
    Custom(Value),
    Message(Value),
    TaskStarted,
    TaskRetry,
    TaskFailed {
        error: String,
    },
    Interrupt(Box<OpenInterrupt>),
    Checkpoint(StoredAt),
    /// The run has ended.
    Done {
        values: Box<RawValue>,
    },
    /// The run has stopped before its end.
    Interrupted {
        values: Box<RawValue>,
        stopped: Stopped,
    },
    /// An event that no client sees.
    Other,
}

/// A durable checkpoint.
#[derive(Clone, Debug)]
pub(crate) struct StoredAt {
    pub(crate) id: CheckpointId,
    pub(crate) parent: Option<CheckpointId>,
    pub(crate) source: String,
    pub(crate) step: i64,
    pub(crate) next: Vec<String>,
}

/// The reason why a run has stopped before its end.
#[derive(Debug)]
pub(crate) struct Stopped {
    pub(crate) interrupts: Vec<OpenInterrupt>,
    /// `true` if the server has told the run to stop.
    pub(crate) drained: bool,
}

impl Stopped {
    fn of<S>(pause: &Pause<S>) -> Self {
        Self { interrupts: pause.interrupts().to_vec(), drained: pause.is_stopped() }
    }
}

impl ServedEvent {
    /// Converts an event. Values of untracked and excluded fields stay behind.
    pub(crate) fn of<S: GraphState>(event: Event<S>) -> Result<Self, RunFailure> {
        let kind = match &event.kind {
            EventKind::Values(state) => ServedKind::Values(dump(&**state)?),
            EventKind::Done(Outcome::Done(state)) => ServedKind::Done { values: dump(state)? },
            EventKind::Done(Outcome::Interrupted(pause)) => {
                ServedKind::Interrupted { values: dump(pause.state())?, stopped: Stopped::of(pause) }
            }
            EventKind::Interrupt { question, .. } => ServedKind::Interrupt(Box::new(question.clone())),
            EventKind::TaskStarted { .. } => ServedKind::TaskStarted,
            _ => kind_of_json(serde_json::to_value(&event).map_err(RunFailure::unserializable)?)?,
        };
        let task_id = event.task_id().or_else(|| unstored_id(&event));
        let node = event.kind.node().unwrap_or_default().to_owned();
        let Event { namespace, callers, superstep, checkpoint, .. } = event;
        let calls = namespace.iter().zip(&callers);
        let namespace = calls.map(|(node, caller)| format!("{node}:{}", task_uuid(caller))).collect();
        Ok(Self { namespace, superstep, checkpoint, task_id, node, kind })
    }
}

/// Returns an id for a task of a subgraph call that is not stored.
fn unstored_id<S: GraphState>(event: &Event<S>) -> Option<String> {
    let (caller, task) = (event.callers.last()?, event.kind.task()?);
    Some(format!("{caller}>{}:{task}", event.superstep))
}

fn dump<S: GraphState>(state: &S) -> Result<Box<RawValue>, RunFailure> {
    to_raw_value(&state.dump()).map_err(RunFailure::unserializable)
}

/// Reads the kind of an event from its JSON. Events of subgraphs with other states are only known in this form.
fn kind_of_json(event: Value) -> Result<ServedKind, RunFailure> {
    let Value::Object(mut event) = event else { return Ok(ServedKind::Other) };
    let name = event.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    let data = event.remove("data").unwrap_or_default();
    Ok(match name.as_str() {
        "values" => ServedKind::Values(to_raw_value(&data).map_err(RunFailure::unserializable)?),
        "update" => ServedKind::Update { writes: data, restored: event.get("restored").is_some() },
        "custom" => ServedKind::Custom(data),
        "message" => ServedKind::Message(data),
        "task_started" => ServedKind::TaskStarted,
        "task_retry" => ServedKind::TaskRetry,
        "task_failed" => {
            let error = event.get("error").and_then(Value::as_str).unwrap_or_default().to_owned();
            ServedKind::TaskFailed { error }
        }
        "interrupt" => {
            let question = serde_json::from_value(data).map_err(RunFailure::unserializable)?;
            ServedKind::Interrupt(Box::new(question))
        }
        "checkpoint" => stored_at(&event).map_or(ServedKind::Other, ServedKind::Checkpoint),
        _ => ServedKind::Other,
    })
}

fn stored_at(event: &Map<String, Value>) -> Option<StoredAt> {
    let text = |name: &str| event.get(name).and_then(Value::as_str);
    let next = event.get("next")?.as_array()?.iter().filter_map(Value::as_str).map(str::to_owned);
    Some(StoredAt {
        id: text("checkpoint")?.parse().ok()?,
        parent: text("parent").and_then(|id| id.parse().ok()),
        source: text("source")?.to_owned(),
        step: event.get("step")?.as_i64()?,
        next: next.collect(),
    })
}
