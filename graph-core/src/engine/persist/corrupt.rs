use std::sync::Arc;

use crate::checkpoint::{Checkpoint, CheckpointError, CorruptCheckpoint};
use crate::error::ErrorKind;

use super::progress::Unplanned;

/// Says of something in a checkpoint that it cannot be read.
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

/// Says why what is planned at a checkpoint cannot be taken up.
pub(super) fn unplanned_kind(thread: &Arc<str>, checkpoint: &Checkpoint, unplanned: Unplanned) -> ErrorKind {
    match unplanned {
        Unplanned::Gone(gone) => {
            ErrorKind::NodeRemoved { node: gone.0, thread: thread.to_string(), checkpoint: checkpoint.id }
        }
        Unplanned::Unreadable(reason) => corrupt(thread, checkpoint, "what is planned", reason),
    }
}
