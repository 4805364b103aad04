use std::sync::Arc;

use crate::checkpoint::Checkpoint;
use crate::error::ErrorKind;
use crate::state::MigrationError;

use super::corrupt::{corrupt, outdated};

/// A node that a checkpoint names and the graph no longer has.
#[derive(Debug)]
pub(crate) struct NodeGone(pub(crate) String);

/// The reason why a stored plan cannot be restored.
#[derive(Debug)]
pub(crate) enum Unplanned {
    Gone(NodeGone),
    /// The data is of another version of the program.
    Outdated(MigrationError),
    Unreadable(String),
}

impl From<NodeGone> for Unplanned {
    fn from(gone: NodeGone) -> Self {
        Self::Gone(gone)
    }
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
