use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::Outcome;
use crate::checkpoint::{CheckpointId, CheckpointSource};
use crate::erased::{Packet, UpdateJson};
use crate::interrupt::{OpenInterrupt, Pause};
use crate::messages::MessageChunk;
use crate::options::clock;
use crate::state::GraphState;

use super::shown::{ShownEvent, ShownKind};
use super::{Custom, SubgraphEvent};

/// An event of a run.
///
/// The serialized event follows the dump rules of the state: it contains no excluded or untracked fields. Values that a node
/// sends with [`Context::emit`](crate::Context::emit) and [`Context::token`](crate::Context::token) are always included.
#[derive(Clone)]
#[non_exhaustive]
pub struct Event<S: GraphState> {
    /// The number of the event in its stream: 0, 1, 2, … without gaps.
    pub sequence: u64,
    /// The path of subgraph nodes in which the event occurred; empty for the run's own graph.
    pub namespace: Vec<Arc<str>>,
    /// The ids of the tasks that have called the subgraphs of the namespace, in its order. They tell parallel calls of one
    /// subgraph node apart.
    ///
    /// In a run with a store they are those of [`task_id`](Self::task_id). Not part of the serialized event.
    pub callers: Vec<Arc<str>>,
    /// The superstep; 0 while the input is applied.
    pub superstep: u64,
    /// The checkpoint that the run had reached in its namespace; `None` for a run without a store.
    ///
    /// It has planned the superstep of a task's event, and it contains the state of `Values`. It may not be durable yet.
    /// With [`Durability::Exit`](crate::Durability::Exit) it may never be stored.
    pub checkpoint: Option<CheckpointId>,
    /// The checkpoint that planned the tasks first.
    pub(crate) planned_at: Option<CheckpointId>,
    /// The kind of the event, with its data.
    pub kind: EventKind<S>,
}

/// The kind of an [`Event`], with its data.
#[derive(Clone)]
#[non_exhaustive]
pub enum EventKind<S: GraphState> {
    /// The state after a superstep, or after the input.
    Values(Arc<S>),
    /// The update of a node.
    #[non_exhaustive]
    Update {
        /// The node.
        node: Arc<str>,
        /// The index of the task in the superstep.
        task: usize,
        /// The partial update.
        update: S::Update,
        /// `true` if the task finished before this run, which continues its superstep. The stream of the earlier run
        /// had the same update, without this mark.
        restored: bool,
        /// `true` if the node is a subgraph that has run. Then the update repeats what the tasks inside the subgraph wrote.
        ///
        /// A repeated message has the same id, so a client that shows each id once shows no message twice.
        subgraph: bool,
    },
    /// A value that a node sent with [`Context::emit`](crate::Context::emit).
    #[non_exhaustive]
    Custom {
        /// The node.
        node: Arc<str>,
        /// The index of the task in the superstep.
        task: usize,
        /// The value.
        value: Custom,
    },
    /// A chunk of a message, sent with [`Context::token`](crate::Context::token) while a model writes it.
    #[non_exhaustive]
    Message {
        /// The node.
        node: Arc<str>,
        /// The index of the task in the superstep.
        task: usize,
        /// The chunk. [`MessageAssembler`](crate::messages::MessageAssembler) joins the chunks of a task.
        chunk: MessageChunk,
    },
    /// A task starts.
    #[non_exhaustive]
    TaskStarted {
        /// The node.
        node: Arc<str>,
        /// The index of the task in the superstep.
        task: usize,
        /// The packet that the task was sent. Not part of the serialized event, because a packet has no dump rules.
        packet: Option<Packet>,
    },
    /// A durable step has a result. The event does not contain it; a node can [emit](crate::Context::emit) it.
    #[non_exhaustive]
    StepFinished {
        /// The node.
        node: Arc<str>,
        /// The index of the task in the superstep.
        task: usize,
        /// The step's key.
        key: Arc<str>,
        /// `true` if the result was already stored and the step did not run.
        kept: bool,
    },
    /// A task has finished. Its update is a separate event.
    #[non_exhaustive]
    TaskFinished {
        /// The node.
        node: Arc<str>,
        /// The index of the task in the superstep.
        task: usize,
        /// `true` if the result came from the [cache](crate::cache) and the node did not run.
        cached: bool,
        /// `true` if the task finished before this run, which continues its superstep.
        restored: bool,
    },
    /// The cache could not be used for a task: the cache failed, or the result cannot be stored. The run continues without it.
    #[non_exhaustive]
    TaskNotCached {
        /// The node.
        node: Arc<str>,
        /// The index of the task in the superstep.
        task: usize,
        /// The reason.
        reason: String,
    },
    /// An attempt of a task failed, and the node's retry policy allows another one.
    #[non_exhaustive]
    TaskRetry {
        /// The node.
        node: Arc<str>,
        /// The index of the task in the superstep.
        task: usize,
        /// The number of the failed attempt, from 1.
        attempt: u32,
        /// The message of the error and its causes.
        error: String,
        /// The wait until the next attempt.
        wait: Duration,
    },
    /// A task has failed, and its node's error handler runs instead.
    #[non_exhaustive]
    TaskHandled {
        /// The node.
        node: Arc<str>,
        /// The index of the task in the superstep.
        task: usize,
        /// The message of the error and its causes.
        error: String,
    },
    /// A task has failed.
    #[non_exhaustive]
    TaskFailed {
        /// The node.
        node: Arc<str>,
        /// The index of the task in the superstep.
        task: usize,
        /// The message of the error and its causes.
        error: String,
    },
    /// A task waits for the answer to a question.
    #[non_exhaustive]
    Interrupt {
        /// The node.
        node: Arc<str>,
        /// The index of the task in the superstep.
        task: usize,
        /// The open interrupt.
        question: OpenInterrupt,
    },
    /// A checkpoint of the run's thread is durable.
    #[non_exhaustive]
    Checkpoint {
        /// Its id.
        id: CheckpointId,
        /// The checkpoint that it follows.
        parent: Option<CheckpointId>,
        /// The operation that made it.
        source: CheckpointSource,
        /// Its step number: −1 for the first input of a thread.
        step: i64,
        /// The nodes of the planned tasks.
        next: Vec<Arc<str>>,
        /// The epoch of the thread during this run; see [`Snapshot::epoch`](crate::thread::Snapshot::epoch).
        epoch: u64,
    },
    /// An event of a subgraph with another state type.
    Subgraph(SubgraphEvent),
    /// The run has finished or paused. Always the last event of a successful run, whatever the modes.
    Done(Outcome<S>),
}

impl<S: GraphState> EventKind<S> {
    /// Returns the name of the kind in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Subgraph(event) => event.name(),
            Self::Done(Outcome::Done(_)) => "done",
            Self::Done(Outcome::Interrupted(_)) => "interrupted",
            other => other.shown().map_or("", |shown| shown.name()),
        }
    }

    /// Returns the node that the event belongs to, if any.
    pub fn node(&self) -> Option<&str> {
        match self {
            Self::Subgraph(event) => event.node(),
            other => other.shown()?.of.map(|(node, _)| node),
        }
    }

    /// Returns the index of the task that the event belongs to, if any.
    pub fn task(&self) -> Option<usize> {
        match self {
            Self::Subgraph(event) => event.task(),
            other => other.shown()?.of.map(|(_, task)| task),
        }
    }

    /// Returns the event for serialization; `None` for [`Subgraph`](Self::Subgraph) and [`Done`](Self::Done).
    fn shown(&self) -> Option<ShownEvent<'_>> {
        let (node, task, kind) = match self {
            Self::Subgraph(_) | Self::Done(_) => return None,
            Self::Values(_) => return Some(ShownEvent::of_run(ShownKind::Values)),
            Self::Checkpoint { id, parent, source, step, next, epoch } => {
                let (id, parent, source, step, epoch) = (*id, *parent, *source, *step, *epoch);
                let kind = ShownKind::Checkpoint { id, parent, source, step, next, epoch };
                return Some(ShownEvent::of_run(kind));
            }
            Self::Update { node, task, restored, subgraph, .. } => {
                (node, task, ShownKind::Update { restored: *restored, subgraph: *subgraph })
            }
            Self::Custom { node, task, value } => (node, task, ShownKind::Custom(value)),
            Self::Message { node, task, chunk } => (node, task, ShownKind::Message(chunk)),
            Self::TaskStarted { node, task, .. } => (node, task, ShownKind::Started),
            Self::StepFinished { node, task, key, kept } => {
                (node, task, ShownKind::Step { key, kept: *kept })
            }
            Self::TaskFinished { node, task, cached, restored } => {
                (node, task, ShownKind::Finished { cached: *cached, restored: *restored })
            }
            Self::TaskNotCached { node, task, reason } => (node, task, ShownKind::NotCached { reason }),
            Self::TaskRetry { node, task, attempt, error, wait } => {
                (node, task, ShownKind::Retry { attempt: *attempt, error, wait: *wait })
            }
            Self::TaskHandled { node, task, error } => (node, task, ShownKind::Handled { error }),
            Self::TaskFailed { node, task, error } => (node, task, ShownKind::Failed { error }),
            Self::Interrupt { node, task, question } => (node, task, ShownKind::Interrupt(question)),
        };
        Some(ShownEvent::of_task(node, *task, kind))
    }
}

impl<S: GraphState> Event<S> {
    /// Returns the id of the task that the event belongs to, as [`TaskSnapshot::id`](crate::thread::TaskSnapshot::id) has
    /// it.
    ///
    /// `None` for an event of no task, and for a run without a store.
    pub fn task_id(&self) -> Option<String> {
        task_id(self.planned_at, self.kind.task())
    }
}

impl<S: GraphState> Serialize for Event<S> {
    fn serialize<Ser: Serializer>(&self, serializer: Ser) -> Result<Ser::Ok, Ser::Error> {
        let mut map = serializer.serialize_map(None)?;
        write_position(self.sequence, &self.namespace, self.superstep, &mut map)?;
        // A checkpoint event has the id among its own entries.
        let checkpoint = self.checkpoint.filter(|_| self.kind.name() != "checkpoint");
        write_checkpoint(checkpoint, self.task_id(), &mut map)?;
        write_entries(&self.kind, &mut map)?;
        map.end()
    }
}

// The functions without a type of state here are compiled once for each format, not for each state.
fn write_position<M: SerializeMap>(
    sequence: u64,
    namespace: &[Arc<str>],
    superstep: u64,
    map: &mut M,
) -> Result<(), M::Error> {
    map.serialize_entry("sequence", &sequence)?;
    let namespace: Vec<&str> = namespace.iter().map(|node| &**node).collect();
    map.serialize_entry("namespace", &namespace)?;
    map.serialize_entry("superstep", &superstep)
}

fn write_checkpoint<M: SerializeMap>(
    checkpoint: Option<CheckpointId>,
    task_id: Option<String>,
    map: &mut M,
) -> Result<(), M::Error> {
    if let Some(checkpoint) = checkpoint {
        map.serialize_entry("checkpoint", &checkpoint)?;
    }
    match task_id {
        Some(task_id) => map.serialize_entry("task_id", &task_id),
        None => Ok(()),
    }
}

fn task_id(planned_at: Option<CheckpointId>, task: Option<usize>) -> Option<String> {
    Some(format!("{}:{}", planned_at?, task?))
}

/// Serializes the kind of an event, without its position.
fn serialize_kind<S: GraphState, Ser: Serializer>(
    kind: &EventKind<S>,
    serializer: Ser,
) -> Result<Ser::Ok, Ser::Error> {
    let mut map = serializer.serialize_map(None)?;
    write_entries(kind, &mut map)?;
    map.end()
}

fn write_entries<S: GraphState, M: SerializeMap>(kind: &EventKind<S>, map: &mut M) -> Result<(), M::Error> {
    if let EventKind::Subgraph(event) = kind {
        let entries = event.to_json().map_err(serde::ser::Error::custom)?;
        return write_json(&entries, map);
    }
    if let Some(shown) = kind.shown() {
        shown.write_head(map)?;
        match kind {
            EventKind::Values(state) => map.serialize_entry("data", &state.dump())?,
            EventKind::Update { update, .. } => map.serialize_entry("data", &UpdateJson::<S>(update))?,
            _ => {}
        }
        return shown.write_rest(map);
    }
    let EventKind::Done(outcome) = kind else { return Ok(()) };
    map.serialize_entry("type", kind.name())?;
    map.serialize_entry("data", &outcome.state().dump())?;
    match outcome {
        Outcome::Done(_) => Ok(()),
        Outcome::Interrupted(pause) => {
            let Pause { interrupts, before, after, next, stopped, wakes_at, .. } = pause;
            let nodes = [("before", &**before), ("after", &**after), ("next", &**next)];
            write_pause(interrupts, nodes, *stopped, *wakes_at, map)
        }
    }
}

fn write_json<M: SerializeMap>(entries: &Map<String, Value>, map: &mut M) -> Result<(), M::Error> {
    for (key, value) in entries {
        map.serialize_entry(key, value)?;
    }
    Ok(())
}

fn write_pause<M: SerializeMap>(
    interrupts: &[OpenInterrupt],
    nodes: [(&'static str, &[String]); 3],
    stopped: bool,
    wakes_at: Option<SystemTime>,
    map: &mut M,
) -> Result<(), M::Error> {
    map.serialize_entry("interrupts", interrupts)?;
    for (name, nodes) in nodes {
        map.serialize_entry(name, nodes)?;
    }
    if let Some(wakes_at) = wakes_at {
        map.serialize_entry("wakes_at_ms", &clock::to_millis(wakes_at))?;
    }
    if stopped {
        map.serialize_entry("stopped", &true)?;
    }
    Ok(())
}

impl<S: GraphState> fmt::Debug for Event<S> {
    /// Formats the event as JSON, by the dump rules, so that excluded fields do not get into logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match serde_json::to_string(self) {
            Ok(json) => f.write_str(&json),
            Err(_) => write!(f, "Event({})", self.kind.name()),
        }
    }
}

impl<S: GraphState> fmt::Debug for EventKind<S> {
    /// Formats the kind as JSON, like an [`Event`] without its position.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut json = Vec::new();
        match serialize_kind(self, &mut serde_json::Serializer::new(&mut json)) {
            Ok(()) => f.write_str(&String::from_utf8_lossy(&json)),
            Err(_) => write!(f, "EventKind({})", self.name()),
        }
    }
}
