use std::sync::Arc;
use std::time::Duration;

use crate::checkpoint::{CheckpointId, CheckpointSource};
use crate::erased::{ErasedState, Packet, StateType, TaskWrites};
use crate::interrupt::OpenInterrupt;
use crate::messages::MessageChunk;

use super::Custom;
use super::shown::{ShownEvent, ShownKind};

/// An event as a run sends it, whatever the type of its state. The reader of the stream gets an
/// [`EventKind`](crate::EventKind).
#[derive(Clone)]
pub(crate) struct RawEvent {
    /// The state of the run.
    pub(crate) state: &'static StateType,
    pub(crate) kind: RawKind,
}

/// The kinds of events, as in [`EventKind`](crate::EventKind).
#[derive(Clone)]
pub(crate) enum RawKind {
    Values(Arc<dyn ErasedState>),
    /// The events of one task.
    Task {
        node: Arc<str>,
        task: usize,
        event: TaskEvent,
    },
    Checkpoint {
        checkpoint: Box<AnnouncedCheckpoint>,
        epoch: u64,
    },
}

#[derive(Clone)]
pub(crate) enum TaskEvent {
    Update { writes: TaskWrites, restored: bool, subgraph: bool },
    Custom(Custom),
    Message(Box<MessageChunk>),
    Started { packet: Option<Packet> },
    Step { key: Arc<str>, kept: bool },
    Finished { cached: bool, restored: bool },
    NotCached { reason: String },
    Retry { attempt: u32, error: String, wait: Duration },
    Handled { error: String },
    Failed { error: String },
    Interrupt { question: Box<OpenInterrupt> },
}

/// A durable checkpoint, as its event shows it.
#[derive(Clone, Debug)]
pub(crate) struct AnnouncedCheckpoint {
    pub(crate) id: CheckpointId,
    pub(crate) parent: Option<CheckpointId>,
    pub(crate) source: CheckpointSource,
    pub(crate) step: i64,
    pub(crate) next: Vec<Arc<str>>,
}

impl RawEvent {
    /// Returns the event for serialization.
    pub(crate) fn shown(&self) -> ShownEvent<'_> {
        let (node, task, event) = match &self.kind {
            RawKind::Values(_) => return ShownEvent::of_run(ShownKind::Values),
            RawKind::Checkpoint { checkpoint, epoch } => {
                let AnnouncedCheckpoint { id, parent, source, step, next } = &**checkpoint;
                let (id, parent, source, step, epoch) = (*id, *parent, *source, *step, *epoch);
                let kind = ShownKind::Checkpoint { id, parent, source, step, next, epoch };
                return ShownEvent::of_run(kind);
            }
            RawKind::Task { node, task, event } => (node, *task, event),
        };
        let kind = match event {
            TaskEvent::Update { restored, subgraph, .. } => {
                ShownKind::Update { restored: *restored, subgraph: *subgraph }
            }
            TaskEvent::Custom(value) => ShownKind::Custom(value),
            TaskEvent::Message(chunk) => ShownKind::Message(chunk),
            TaskEvent::Started { .. } => ShownKind::Started,
            TaskEvent::Step { key, kept } => ShownKind::Step { key, kept: *kept },
            TaskEvent::Finished { cached, restored } => {
                ShownKind::Finished { cached: *cached, restored: *restored }
            }
            TaskEvent::NotCached { reason } => ShownKind::NotCached { reason },
            TaskEvent::Retry { attempt, error, wait } => {
                ShownKind::Retry { attempt: *attempt, error, wait: *wait }
            }
            TaskEvent::Handled { error } => ShownKind::Handled { error },
            TaskEvent::Failed { error } => ShownKind::Failed { error },
            TaskEvent::Interrupt { question } => ShownKind::Interrupt(question),
        };
        ShownEvent::of_task(node, task, kind)
    }
}
