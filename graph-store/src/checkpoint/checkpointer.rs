use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use super::{
    Checkpoint, CheckpointError, CheckpointId, CheckpointQuery, Fence, HistoryEntry, NamespaceQuery,
    NamespaceRecord, Page, Prune, Pruned, StoredCheckpoint, StoredStatus, ThreadQuery, ThreadRecord,
    WriteBatch,
};

/// The future that a call to a [`Checkpointer`] returns.
pub type CheckpointFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, CheckpointError>> + Send + 'a>>;

/// A checkpoint store.
///
/// This trait is a contract for authors of stores: a store keeps every promise on this page. The crate
/// `superstep-conformance` tests the promises, and a store has to pass its suite.
///
/// # Data model
/// - A thread has namespaces, and a namespace has checkpoints.
/// - The checkpoints of a namespace form a tree by their parents and a list by their ids.
/// - The *head* of a namespace is its newest checkpoint: the one with the greatest id.
/// - A checkpoint never changes after it was written. The records of its tasks do change.
/// - Checkpoints are removed by [rolling back](super::BatchWrite::RollBack) a namespace, by pruning, and with their thread.
/// - Names of threads, namespaces and fields and keys of records are arbitrary strings, including the empty string.
/// - A store does not interpret a [`Payload`](crate::payload::Payload). It returns the same bytes with the same
///   encoding.
/// - Everything within the [limits](crate::limits) can be stored and read back. Everything else is refused:
///   [`commit`](Self::commit) begins with [`WriteBatch::check_limits`], and [`copy`](Self::copy) with
///   [`check_thread_name`](super::check_thread_name).
///
/// # Durability
/// - After [`commit`](Self::commit) has returned `Ok`, its writes survive everything that the store promises to
///   survive.
/// - A read never returns a write that the store has not acknowledged.
///
/// # Cancel safety
/// - A call whose future is dropped is completed as a whole or has no effect. [`prune`](Self::prune) may stop between
///   two of its steps.
/// - Writes take effect in the order in which their futures were first polled.
/// - A read that begins after the drop, through the same store, sees the final result of the dropped call: a write that
///   this read does not see is never made. The steps of [`prune`](Self::prune) are the only exception.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a checkpointer",
    label = "does not implement `Checkpointer`",
    note = "`MemoryCheckpointer` holds the threads of this process; the crates of the stores have durable ones, such as `SqliteCheckpointer`"
)]
pub trait Checkpointer: Send + Sync + 'static {
    /// Makes all writes of a batch, or none.
    ///
    /// - The store makes the writes only if the epoch of the thread and the head of the namespace equal `batch.fence`,
    ///   and the thread has the origin `batch.origin` or does not exist yet.
    /// - The check and the writes are one atomic step.
    /// - A thread that does not exist yet is created with the origin of the batch.
    /// - The status of the thread becomes `batch.status`, if the batch has one.
    ///
    /// # Errors
    /// - [`Conflict`](CheckpointError::Conflict) if the epoch, the head or the origin differs. Committing the same
    ///   batch a second time is a conflict too.
    /// - [`Invalid`](CheckpointError::Invalid) if the id of a checkpoint is not greater than all ids of its namespace,
    ///   if a parent, the checkpoint of a record or the target of a [roll back](super::BatchWrite::RollBack) does not
    ///   exist, or if the epoch would decrease.
    /// - [`NotStorable`](CheckpointError::NotStorable) if the batch exceeds one of the [limits](crate::limits).
    ///
    /// The store is unchanged after an error.
    ///
    /// # Durability
    /// The writes are durable when the call has returned `Ok`.
    ///
    /// # Cancel safety
    /// A batch whose future is dropped is committed as a whole or not at all.
    fn commit(&self, batch: WriteBatch) -> CheckpointFuture<'_, ()>;

    /// Reads the fence of a namespace, the status of its thread and one of its checkpoints.
    ///
    /// - The checkpoint is the head if `checkpoint` is `None`.
    /// - All parts are read as of one moment.
    /// - A missing thread, namespace or checkpoint is not an error: [`Loaded::found`] is `None`.
    ///
    /// # Errors
    /// [`Corrupt`](CheckpointError::Corrupt) if any part of the checkpoint cannot be read. The store never returns a
    /// checkpoint with some of its parts missing.
    ///
    /// # Cancel safety
    /// The call only reads.
    fn get(
        &self,
        thread: &str,
        namespace: &str,
        checkpoint: Option<CheckpointId>,
    ) -> CheckpointFuture<'_, Loaded>;

    /// Lists checkpoints of a namespace, newest first, or oldest first if the query [says so](CheckpointQuery::oldest_first).
    ///
    /// The cost of the first page does not depend on the checkpoints outside of [`before`](CheckpointQuery::before) and
    /// [`after`](CheckpointQuery::after).
    ///
    /// The cost of a query for a [request](CheckpointQuery::request) does not depend on the length of the history, so the
    /// store needs an index over the keys of requests.
    ///
    /// # Errors
    /// [`Corrupt`](CheckpointError::Corrupt) if a listed checkpoint cannot be read.
    ///
    /// # Cancel safety
    /// The call only reads.
    fn list(&self, query: CheckpointQuery) -> CheckpointFuture<'_, Page<Checkpoint>>;

    /// Lists checkpoints like [`list`](Self::list), each with everything that [`get`](Self::get) returns.
    ///
    /// - The changes of an entry are relative to its [base](HistoryEntry::base), another entry of the page, so that a page
    ///   costs what it returns: linear in the number of checkpoints, with the deltas of each.
    /// - All entries of a page are read as of one moment.
    /// - A store may limit the bytes of a page, and returns at least one entry if there is one.
    ///
    /// # Errors
    /// [`Corrupt`](CheckpointError::Corrupt) if any part of a listed checkpoint cannot be read.
    ///
    /// # Cancel safety
    /// The call only reads.
    fn history(&self, query: CheckpointQuery) -> CheckpointFuture<'_, Page<HistoryEntry>>;

    /// Lists the namespaces of a thread that have a checkpoint, by name in the order of their UTF-8 bytes, each with its
    /// head.
    ///
    /// - A namespace whose head cannot be read is listed too: its [`NamespaceRecord::head`] is the error.
    /// - A missing thread is not an error: the list is empty.
    ///
    /// # Errors
    /// [`Corrupt`](CheckpointError::Corrupt) if the name of a namespace cannot be read.
    ///
    /// # Cancel safety
    /// The call only reads.
    fn namespaces(&self, query: NamespaceQuery) -> CheckpointFuture<'_, Page<NamespaceRecord>>;

    /// Lists threads, by name in the order of their UTF-8 bytes. Threads that are [due](ThreadQuery::due) are listed by
    /// their wake-up time, and [newest first](ThreadQuery::newest_first) by the time at which their status changed.
    ///
    /// - A thread whose head cannot be read is listed too: its [`ThreadRecord::head`] is the error.
    /// - The cost of a page depends on the listed threads. The store needs indexes over the status for each order, so that
    ///   threads of another status, and threads that wait for a later time, add nothing to it.
    /// - A query for metadata costs the threads that have one of its keys with its value: the store needs an index over
    ///   [digests](super::metadata_digest) or values of metadata.
    ///
    /// # Errors
    /// [`Corrupt`](CheckpointError::Corrupt) if the name or the epoch of a thread cannot be read.
    ///
    /// # Cancel safety
    /// The call only reads.
    fn threads(&self, query: ThreadQuery) -> CheckpointFuture<'_, Page<ThreadRecord>>;

    /// Deletes a thread with all of its namespaces, checkpoints and records.
    ///
    /// - Returns `false` if the thread does not exist, whatever the epoch.
    /// - With `epoch`, the store deletes the thread only if it has this epoch. The check and the deletion are one atomic
    ///   step.
    ///
    /// # Errors
    /// - [`Conflict`](CheckpointError::Conflict) if the thread has another epoch.
    /// - [`Backend`](CheckpointError::Backend) if the storage below the store fails.
    ///
    /// # Durability
    /// The deletion is durable when the call has returned `Ok`.
    ///
    /// # Cancel safety
    /// A thread is deleted as a whole or not at all.
    fn delete(&self, thread: &str, epoch: Option<u64>) -> CheckpointFuture<'_, bool>;

    /// Copies a thread with all of its namespaces, checkpoints and records to a new name.
    ///
    /// - The copy has the same ids, the same epoch, the same origin and the same status.
    /// - With `epoch`, the store copies the thread only if it has this epoch. The check and the copy are one atomic step.
    ///
    /// # Errors
    /// The first of these that applies:
    /// - [`NoThread`](CheckpointError::NoThread) if `from` does not exist.
    /// - [`Conflict`](CheckpointError::Conflict) if `from` has another epoch.
    /// - [`Exists`](CheckpointError::Exists) if `to` already exists.
    /// - [`NotStorable`](CheckpointError::NotStorable) if `to` is too long.
    ///
    /// # Durability
    /// The copy is durable when the call has returned `Ok`.
    ///
    /// # Cancel safety
    /// A thread is copied as a whole or not at all.
    fn copy(&self, from: &str, to: &str, epoch: Option<u64>) -> CheckpointFuture<'_, ()>;

    /// Drops old checkpoints.
    ///
    /// - Other calls may read and write during the call.
    /// - The call may consist of several steps. After each step, every remaining checkpoint can be read completely.
    ///
    /// # Errors
    /// [`Backend`](CheckpointError::Backend) if the storage below the store fails.
    ///
    /// # Cancel safety
    /// A dropped call may have made some of its steps. It may make further steps even after a read that began after the
    /// drop.
    fn prune(&self, prune: Prune) -> CheckpointFuture<'_, Pruned>;
}

/// The result of [`Checkpointer::get`].
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Loaded {
    /// The epoch of the thread, 0 if the thread does not exist, and the head of the namespace.
    pub fence: Fence,
    /// The origin of the thread, or `None` if the thread does not exist.
    pub origin: Option<Arc<str>>,
    /// The status of the thread, or the default if the thread does not exist.
    pub status: StoredStatus,
    /// The requested checkpoint, or `None` if it does not exist.
    pub found: Option<StoredCheckpoint>,
}

impl Loaded {
    /// Creates the result of a read, without a status. [`Loaded::default`] is the result for a thread that does not exist.
    pub fn new(
        fence: Fence,
        origin: impl Into<Option<Arc<str>>>,
        found: impl Into<Option<StoredCheckpoint>>,
    ) -> Self {
        Self { fence, origin: origin.into(), status: StoredStatus::default(), found: found.into() }
    }

    /// Sets the status of the thread.
    #[must_use]
    pub fn status(mut self, status: StoredStatus) -> Self {
        self.status = status;
        self
    }
}

#[diagnostic::do_not_recommend]
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

    fn history(&self, query: CheckpointQuery) -> CheckpointFuture<'_, Page<HistoryEntry>> {
        C::history(self, query)
    }

    fn namespaces(&self, query: NamespaceQuery) -> CheckpointFuture<'_, Page<NamespaceRecord>> {
        C::namespaces(self, query)
    }

    fn threads(&self, query: ThreadQuery) -> CheckpointFuture<'_, Page<ThreadRecord>> {
        C::threads(self, query)
    }

    fn delete(&self, thread: &str, epoch: Option<u64>) -> CheckpointFuture<'_, bool> {
        C::delete(self, thread, epoch)
    }

    fn copy(&self, from: &str, to: &str, epoch: Option<u64>) -> CheckpointFuture<'_, ()> {
        C::copy(self, from, to, epoch)
    }

    fn prune(&self, prune: Prune) -> CheckpointFuture<'_, Pruned> {
        C::prune(self, prune)
    }
}
