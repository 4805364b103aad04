use std::sync::Arc;

use crate::checkpoint::{Checkpoint, CheckpointError, CorruptCheckpoint};
use crate::error::ErrorKind;
use crate::state::MigrationError;

use super::progress::Unplanned;

/// Creates the error for a part of a checkpoint that cannot be read.
pub(crate) fn corrupt(
    thread: &Arc<str>,
    checkpoint: &Checkpoint,
    part: impl Into<String>,
    reason: impl Into<String>,
) -> ErrorKind {
    let corrupt = CorruptCheckpoint::new(Arc::clone(thread), "", checkpoint.id, part, reason);
    ErrorKind::Checkpoint(Arc::new(CheckpointError::corrupt(corrupt)))
}

/// Creates the error for a part of a checkpoint that another version of the program has written.
pub(crate) fn outdated(thread: &Arc<str>, checkpoint: &Checkpoint, source: MigrationError) -> ErrorKind {
    ErrorKind::Migration { thread: thread.to_string(), checkpoint: checkpoint.id, source }
}

/// Creates the error for a plan that cannot be restored.
pub(crate) fn unplanned_kind(thread: &Arc<str>, checkpoint: &Checkpoint, unplanned: Unplanned) -> ErrorKind {
    match unplanned {
        Unplanned::Gone(gone) => {
            ErrorKind::NodeRemoved { node: gone.0, thread: thread.to_string(), checkpoint: checkpoint.id }
        }
        Unplanned::Outdated(source) => outdated(thread, checkpoint, source),
        Unplanned::Unreadable(reason) => corrupt(thread, checkpoint, "the plan", reason),
    }
}
