//! The events of a run with the type of its state.

use std::any::TypeId;
use std::sync::Arc;

use crate::erased::{WritesOf, shared};
use crate::state::GraphState;

use super::SubgraphEvent;
use super::event::EventKind;
use super::raw::{AnnouncedCheckpoint, RawEvent, RawKind, TaskEvent};

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
}

impl SubgraphEvent {
    /// Returns the kind of the event, if the subgraph's state type is `C`.
    pub fn kind<C: GraphState>(&self) -> Option<&EventKind<C>> {
        if self.raw().state.id != TypeId::of::<C>() {
            return None;
        }
        self.typed(|raw| raw.clone().typed::<C>().ok())
    }
}
