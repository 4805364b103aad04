use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use super::{
    Checkpoint, CheckpointError, CheckpointId, CheckpointQuery, Fence, Page, Prune, Pruned, StoredCheckpoint,
    ThreadQuery, ThreadRecord, WriteBatch,
};

/// What a call to a store gives back.
pub type CheckpointFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, CheckpointError>> + Send + 'a>>;

/// A store of checkpoints.
///
/// A store knows bytes and records, no types: what is in a [`Payload`](super::Payload) is none of its business. Names of
/// threads, namespaces and fields, and keys of records, are any text, the empty one included. A store is *one* that keeps
/// what is said here and passes the conformance suite; see there for every promise by name.
///
/// A thread has namespaces, a namespace has checkpoints. They form a tree by their parents, and a list by their ids: the
/// newest is the *head*. A checkpoint, once written, never changes; what is known of its tasks (its records) does.
///
/// # Durability
/// When [`commit`](Self::commit) has returned, its writes survive whatever the store promises to survive; nothing that has
/// not been acknowledged is ever read.
///
/// # Cancel safety
/// A call whose future is dropped is done as a whole or not at all. What has been handed over is written in the order in
/// which the futures were first polled. A read that begins afterwards through the same store sees what came of it: what it
/// does not see is never done.
pub trait Checkpointer: Send + Sync + 'static {
    /// Makes the writes of a batch, all or none, if the thread is where the batch expects it to be.
    ///
    /// # Errors
    /// [`Conflict`](CheckpointError::Conflict) if it is somewhere else; also when the same batch is committed again.
    /// [`Invalid`](CheckpointError::Invalid) for an id or parent that cannot be.
    fn commit(&self, batch: WriteBatch) -> CheckpointFuture<'_, ()>;

    /// Reads where a namespace of a thread stands and one of its checkpoints (the head if none is named), as of one moment.
    ///
    /// A thread, namespace or checkpoint that is not there is no error.
    ///
    /// # Errors
    /// [`CorruptCheckpoint`](CheckpointError::Corrupt) for what cannot be read; never a part of what is there.
    fn get(
        &self,
        thread: &str,
        namespace: &str,
        checkpoint: Option<CheckpointId>,
    ) -> CheckpointFuture<'_, Loaded>;

    /// Lists checkpoints of a namespace, newest first.
    ///
    /// # Errors
    /// [`CorruptCheckpoint`](CheckpointError::Corrupt) for what cannot be read.
    fn list(&self, query: CheckpointQuery) -> CheckpointFuture<'_, Page<Checkpoint>>;

    /// Lists threads. Of one whose head cannot be read, the record says so; the others are listed all the same.
    ///
    /// # Errors
    /// [`CorruptCheckpoint`](CheckpointError::Corrupt) if the list itself, a thread's name or epoch, cannot be read.
    fn threads(&self, query: ThreadQuery) -> CheckpointFuture<'_, Page<ThreadRecord>>;

    /// Deletes a thread with everything in it; `false` if it was not there.
    ///
    /// # Errors
    /// What lies below the store failed.
    fn delete(&self, thread: &str) -> CheckpointFuture<'_, bool>;

    /// Copies a thread, with every namespace, checkpoint and record, under a new name. Ids, epoch and origin are the same.
    ///
    /// # Errors
    /// [`NoThread`](CheckpointError::NoThread), [`Exists`](CheckpointError::Exists).
    fn copy(&self, from: &str, to: &str) -> CheckpointFuture<'_, ()>;

    /// Drops old checkpoints; usable while others read and write.
    ///
    /// It may be made in steps, each of which leaves whole what remains. A dropped call may have made some of them, and make
    /// more behind reads that begin afterwards.
    ///
    /// # Errors
    /// What lies below the store failed.
    fn prune(&self, prune: Prune) -> CheckpointFuture<'_, Pruned>;
}

/// What [`Checkpointer::get`] finds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loaded {
    /// Where the namespace stands: the thread's epoch (0 if there is no such thread), the newest checkpoint.
    pub fence: Fence,
    /// The thread's origin, if there is such a thread.
    pub origin: Option<Arc<str>>,
    /// The checkpoint that was asked for, if it is there.
    pub found: Option<StoredCheckpoint>,
}

impl<C: Checkpointer + ?Sized> Checkpointer for Arc<C> {
    fn commit(&self, batch: WriteBatch) -> CheckpointFuture<'_, ()> {
        C::commit(self, batch)
    }

    fn get(
        &self,
        thread: &str,
        namespace: &str,
        checkpoint: Option<CheckpointId>,
    ) -> CheckpointFuture<'_, Loaded> {
        C::get(self, thread, namespace, checkpoint)
    }

    fn list(&self, query: CheckpointQuery) -> CheckpointFuture<'_, Page<Checkpoint>> {
        C::list(self, query)
    }

    fn threads(&self, query: ThreadQuery) -> CheckpointFuture<'_, Page<ThreadRecord>> {
        C::threads(self, query)
    }

    fn delete(&self, thread: &str) -> CheckpointFuture<'_, bool> {
        C::delete(self, thread)
    }

    fn copy(&self, from: &str, to: &str) -> CheckpointFuture<'_, ()> {
        C::copy(self, from, to)
    }

    fn prune(&self, prune: Prune) -> CheckpointFuture<'_, Pruned> {
        C::prune(self, prune)
    }
}
