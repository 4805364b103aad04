use superstep::checkpoint::CheckpointId;

use crate::events::Position;
use crate::graphs::{ServedEvent, ServedKind};

/// The position of a run while it is executed.
pub(super) struct RunPosition {
    position: Option<Position>,
    /// The checkpoint from which the run continues.
    restored_at: Option<CheckpointId>,
}

/// The kinds of events that repeat those of an earlier execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Restored {
    /// The event is new.
    No,
    /// The state from which the run continues.
    State,
    /// The result of a task that had finished.
    Task,
}

impl RunPosition {
    pub(super) fn new(restored_at: Option<CheckpointId>) -> Self {
        let position = restored_at.map(|checkpoint| Position { checkpoint, tasks: 0 });
        Self { position, restored_at }
    }

    pub(super) fn get(&self) -> Option<Position> {
        self.position
    }

    /// Moves to the position after an event that says why the run has stopped.
    pub(super) fn stop(&mut self) -> Option<Position> {
        if let Some(position) = &mut self.position {
            position.tasks = position.tasks.max(Position::STOPPED).saturating_add(1);
        }
        self.position
    }

    /// Moves to the position after an event.
    pub(super) fn notice(&mut self, event: &ServedEvent) -> Restored {
        if !event.namespace.is_empty() {
            return Restored::No;
        }
        match (&event.kind, event.checkpoint) {
            (ServedKind::Values(_), Some(checkpoint)) => {
                self.position = Some(Position { checkpoint, tasks: 0 });
                if self.restored_at.take() == Some(checkpoint) { Restored::State } else { Restored::No }
            }
            (ServedKind::Update { restored, .. }, _) => {
                if let Some(position) = &mut self.position {
                    position.tasks = position.tasks.saturating_add(1);
                }
                if *restored { Restored::Task } else { Restored::No }
            }
            _ => Restored::No,
        }
    }
}
