use std::sync::Arc;

use crate::checkpoint::{Checkpoint, CheckpointError, CorruptCheckpoint};
use crate::error::ErrorKind;

use super::progress::Unplanned;

/// Creates the error for a part of a checkpoint that cannot be read.
pub(crate) fn corrupt(
    thread: &Arc<str>,
    checkpoint: &Checkpoint,
    what: impl Into<String>,
    reason: impl Into<String>,
) -> ErrorKind {
    let corrupt = CorruptCheckpoint {
        thread: Arc::clone(thread),
        namespace: Arc::from(""),
        checkpoint: Some(checkpoint.id),
        what: what.into(),
        reason: reason.into(),
    };
    ErrorKind::Checkpoint(Arc::new(CheckpointError::Corrupt(Box::new(corrupt))))
}

/// Creates the error for a plan that cannot be restored.
pub(super) fn unplanned_kind(thread: &Arc<str>, checkpoint: &Checkpoint, unplanned: Unplanned) -> ErrorKind {
    match unplanned {
        Unplanned::Gone(gone) => {
            ErrorKind::NodeRemoved { node: gone.0, thread: thread.to_string(), checkpoint: checkpoint.id }
        }
        Unplanned::Unreadable(reason) => corrupt(thread, checkpoint, "the plan", reason),
    }
}
