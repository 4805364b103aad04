use std::sync::Arc;

use superstep_store::checkpoint::{CheckpointError, WriteBatch};
use tokio::sync::oneshot;

use crate::error::Failure;

/// The way back to the caller of a write.
pub(super) type Reply<T> = oneshot::Sender<Result<T, CheckpointError>>;

/// A submitted write.
pub(super) enum Job {
    Commit(Box<CommitJob>),
    Delete(DeleteJob),
    Copy(CopyJob),
}

pub(super) struct CommitJob {
    pub(super) batch: WriteBatch,
    /// Identifies the batch if it has to be sent again.
    pub(super) token: i64,
    pub(super) reply: Reply<()>,
}

pub(super) struct DeleteJob {
    pub(super) thread: Arc<str>,
    pub(super) epoch: Option<u64>,
    pub(super) reply: Reply<bool>,
}

pub(super) struct CopyJob {
    pub(super) from: Arc<str>,
    pub(super) to: Arc<str>,
    pub(super) epoch: Option<u64>,
    /// Identifies the copy if it has to be made again.
    pub(super) token: i64,
    pub(super) reply: Reply<()>,
}

impl CommitJob {
    pub(super) fn reply(self, result: Result<(), CheckpointError>) {
        // The caller may have dropped its future.
        drop(self.reply.send(result));
    }

    pub(super) fn fail(self, failure: &Failure) {
        self.reply(Err(failure.again().checkpoint("write a checkpoint")));
    }
}
