use std::sync::Arc;

use crate::checkpoint::{Checkpoint, CheckpointError, CorruptCheckpoint};
use crate::error::ErrorKind;
use crate::state::MigrationError;

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
