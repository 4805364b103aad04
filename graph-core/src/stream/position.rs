use std::sync::{Arc, Mutex, PoisonError};

use crate::checkpoint::CheckpointId;

/// The checkpoint that a run with listeners has reached.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunPosition(Arc<Mutex<Option<ReachedCheckpoint>>>);

/// A checkpoint that a run has reached.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReachedCheckpoint {
    pub(crate) id: CheckpointId,
    /// The checkpoint that planned its tasks first, whose id is in the ids of the tasks.
    pub(crate) planned_at: CheckpointId,
}

impl RunPosition {
    pub(crate) fn reaches(&self, checkpoint: ReachedCheckpoint) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(checkpoint);
    }

    /// Returns the checkpoint; `None` for a run without a store.
    pub(crate) fn checkpoint(&self) -> Option<ReachedCheckpoint> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
