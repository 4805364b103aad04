use std::any::TypeId;
use std::sync::Arc;
use std::time::Duration;

use crate::erased::{ErasedState, Packet, StateType, TaskWrites, WritesOf, shared};
use crate::interrupt::OpenInterrupt;
use crate::messages::MessageChunk;
use crate::state::GraphState;

use super::Custom;
use super::event::EventKind;
use super::events::AnnouncedCheckpoint;
use super::shown::{ShownEvent, ShownKind};

/// An event as a run sends it, whatever the type of its state. The reader of the stream gets an
/// [`EventKind`](crate::EventKind).
#[derive(Clone)]
pub(crate) struct RawEvent {
    /// The state of the run.
    pub(crate) state: &'static StateType,
    pub(crate) kind: RawKind,
}

/// The kinds of events, as in [`EventKind`].
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

impl RawEvent {
    /// Returns the event with its type.
    ///
    /// # Errors
    /// The event, if it belongs to a run over another state.
    pub(crate) fn typed<S: GraphState>(self) -> Result<EventKind<S>, Self> {
        if self.state.id != TypeId::of::<S>() {
            return Err(self);
        }
        Ok(match self.kind {
            RawKind::Values(state) => match shared(Arc::clone(&state)) {
                Some(state) => EventKind::Values(state),
                None => return Err(Self { state: self.state, kind: RawKind::Values(state) }),
            },
            RawKind::Checkpoint { checkpoint, epoch } => {
                let AnnouncedCheckpoint { id, parent, source, step, next } = *checkpoint;
                EventKind::Checkpoint { id, parent, source, step, next, epoch }
            }
            RawKind::Task { node, task, event } => match event {
                TaskEvent::Update { writes, restored, subgraph } => {
                    let update = WritesOf::<S>::typed(writes);
                    EventKind::Update { node, task, update, restored, subgraph }
                }
                TaskEvent::Custom(value) => EventKind::Custom { node, task, value },
                TaskEvent::Message(chunk) => EventKind::Message { node, task, chunk: *chunk },
                TaskEvent::Started { packet } => EventKind::TaskStarted { node, task, packet },
                TaskEvent::Step { key, kept } => EventKind::StepFinished { node, task, key, kept },
                TaskEvent::Finished { cached, restored } => {
                    EventKind::TaskFinished { node, task, cached, restored }
                }
                TaskEvent::NotCached { reason } => EventKind::TaskNotCached { node, task, reason },
                TaskEvent::Retry { attempt, error, wait } => {
                    EventKind::TaskRetry { node, task, attempt, error, wait }
                }
                TaskEvent::Handled { error } => EventKind::TaskHandled { node, task, error },
                TaskEvent::Failed { error } => EventKind::TaskFailed { node, task, error },
                TaskEvent::Interrupt { question } => EventKind::Interrupt { node, task, question: *question },
            },
        })
    }

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
