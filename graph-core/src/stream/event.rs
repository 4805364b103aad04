use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::checkpoint::CheckpointId;
use crate::engine::clock;
use crate::interrupt::OpenInterrupt;
use crate::messages::MessageChunk;
use crate::node::Packet;
use crate::run::Outcome;
use crate::state::{GraphState, serialize_writes};

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
    /// The superstep; 0 while the input is applied.
    pub superstep: u64,
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
        /// Its step number: −1 for the first input of a thread.
        step: i64,
    },
    /// An event of a subgraph with another state type.
    Subgraph(SubgraphEvent),
    /// The run has finished or paused. Always the last event of a successful run, whatever the modes.
    Done(Outcome<S>),
}

/// A group of event kinds that a caller can choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamMode {
    /// [`EventKind::Values`].
    Values,
    /// [`EventKind::Update`].
    Updates,
    /// [`EventKind::Custom`].
    Custom,
    /// [`EventKind::Message`].
    Messages,
    /// [`EventKind::TaskStarted`], [`EventKind::StepFinished`], [`EventKind::TaskFinished`], [`EventKind::TaskRetry`],
    /// [`EventKind::TaskHandled`], [`EventKind::TaskNotCached`] and [`EventKind::TaskFailed`].
    Tasks,
    /// [`EventKind::Interrupt`].
    Interrupts,
    /// [`EventKind::Checkpoint`].
    Checkpoints,
}

impl StreamMode {
    /// All modes.
    pub const ALL: [Self; 7] = [
        Self::Values,
        Self::Updates,
        Self::Custom,
        Self::Messages,
        Self::Tasks,
        Self::Interrupts,
        Self::Checkpoints,
    ];
}

impl<S: GraphState> EventKind<S> {
    /// Returns the name of the kind in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Values(_) => "values",
            Self::Update { .. } => "update",
            Self::Custom { .. } => "custom",
            Self::Message { .. } => "message",
            Self::TaskStarted { .. } => "task_started",
            Self::StepFinished { .. } => "step_finished",
            Self::TaskFinished { .. } => "task_finished",
            Self::TaskFailed { .. } => "task_failed",
            Self::TaskNotCached { .. } => "task_not_cached",
            Self::TaskRetry { .. } => "task_retry",
            Self::TaskHandled { .. } => "task_handled",
            Self::Checkpoint { .. } => "checkpoint",
            Self::Interrupt { .. } => "interrupt",
            Self::Subgraph(event) => event.name(),
            Self::Done(Outcome::Done(_)) => "done",
            Self::Done(Outcome::Interrupted(_)) => "interrupted",
        }
    }

    /// Returns the node that the event belongs to, if any.
    pub fn node(&self) -> Option<&str> {
        match self {
            Self::Update { node, .. }
            | Self::Custom { node, .. }
            | Self::Message { node, .. }
            | Self::TaskStarted { node, .. }
            | Self::StepFinished { node, .. }
            | Self::TaskFinished { node, .. }
            | Self::TaskFailed { node, .. }
            | Self::TaskRetry { node, .. }
            | Self::TaskHandled { node, .. }
            | Self::TaskNotCached { node, .. }
            | Self::Interrupt { node, .. } => Some(node),
            Self::Subgraph(event) => event.node(),
            Self::Values(_) | Self::Checkpoint { .. } | Self::Done(_) => None,
        }
    }

    pub(super) fn task(&self) -> Option<usize> {
        match self {
            Self::Update { task, .. }
            | Self::Custom { task, .. }
            | Self::Message { task, .. }
            | Self::TaskStarted { task, .. }
            | Self::StepFinished { task, .. }
            | Self::TaskFinished { task, .. }
            | Self::TaskFailed { task, .. }
            | Self::TaskRetry { task, .. }
            | Self::TaskHandled { task, .. }
            | Self::TaskNotCached { task, .. }
            | Self::Interrupt { task, .. } => Some(*task),
            Self::Subgraph(event) => event.task(),
            Self::Values(_) | Self::Checkpoint { .. } | Self::Done(_) => None,
        }
    }
}

impl<S: GraphState> Serialize for Event<S> {
    fn serialize<Ser: Serializer>(&self, serializer: Ser) -> Result<Ser::Ok, Ser::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("sequence", &self.sequence)?;
        let namespace: Vec<&str> = self.namespace.iter().map(|node| &**node).collect();
        map.serialize_entry("namespace", &namespace)?;
        map.serialize_entry("superstep", &self.superstep)?;
        write_entries(&self.kind, &mut map)?;
        map.end()
    }
}

/// Serializes the kind of an event, without its position.
pub(super) fn serialize_kind<S: GraphState, Ser: Serializer>(
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
        return entries.iter().try_for_each(|(key, value)| map.serialize_entry(key, value));
    }
    map.serialize_entry("type", kind.name())?;
    if let (Some(node), Some(task)) = (kind.node(), kind.task()) {
        map.serialize_entry("node", node)?;
        map.serialize_entry("task", &task)?;
    }
    match kind {
        EventKind::Values(state) => map.serialize_entry("data", &state.dump())?,
        EventKind::Update { update, restored, .. } => {
            map.serialize_entry("data", &UpdateData::<S>(update))?;
            if *restored {
                map.serialize_entry("restored", &true)?;
            }
        }
        EventKind::Custom { value, .. } => map.serialize_entry("data", value)?,
        EventKind::Message { chunk, .. } => map.serialize_entry("data", chunk)?,
        EventKind::TaskFailed { error, .. } | EventKind::TaskHandled { error, .. } => {
            map.serialize_entry("error", error)?
        }
        EventKind::StepFinished { key, kept, .. } => {
            map.serialize_entry("key", key.as_ref())?;
            map.serialize_entry("kept", kept)?;
        }
        EventKind::TaskRetry { attempt, error, wait, .. } => {
            map.serialize_entry("attempt", attempt)?;
            map.serialize_entry("error", error)?;
            map.serialize_entry("wait", &wait.as_secs_f64())?;
        }
        EventKind::Checkpoint { id, step } => {
            map.serialize_entry("checkpoint", id)?;
            map.serialize_entry("step", step)?;
        }
        EventKind::Interrupt { question, .. } => map.serialize_entry("data", question)?,
        EventKind::Done(outcome) => {
            map.serialize_entry("data", &outcome.state().dump())?;
            if let Some(pause) = outcome.pause() {
                map.serialize_entry("interrupts", pause.interrupts())?;
                map.serialize_entry("before", pause.before())?;
                map.serialize_entry("after", pause.after())?;
                map.serialize_entry("next", pause.next())?;
                if let Some(wakes_at) = pause.wakes_at() {
                    map.serialize_entry("wakes_at_ms", &clock::to_millis(wakes_at))?;
                }
                if pause.is_stopped() {
                    map.serialize_entry("stopped", &true)?;
                }
            }
        }
        EventKind::TaskFinished { cached, restored, .. } => {
            for (name, _) in [("cached", cached), ("restored", restored)].iter().filter(|(_, is)| **is) {
                map.serialize_entry(name, &true)?;
            }
        }
        EventKind::TaskNotCached { reason, .. } => map.serialize_entry("reason", reason)?,
        EventKind::TaskStarted { .. } | EventKind::Subgraph(_) => {}
    }
    Ok(())
}

/// The update of an event: always an array of objects.
struct UpdateData<'u, S: GraphState>(&'u S::Update);

impl<S: GraphState> Serialize for UpdateData<'_, S> {
    fn serialize<Ser: Serializer>(&self, serializer: Ser) -> Result<Ser::Ok, Ser::Error> {
        serialize_writes::<S, Ser>(self.0, serializer)
    }
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
