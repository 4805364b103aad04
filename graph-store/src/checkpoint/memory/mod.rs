//! The store in memory: [`MemoryCheckpointer`]. It also serves as the reference implementation of the contract.

mod branch;
mod check;
mod history;
mod namespace;
mod prune;
mod select;
#[cfg(test)]
mod tests;
mod thread;
mod threads;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use self::threads::Threads;
use super::{
    Checkpoint, CheckpointError, CheckpointFuture, CheckpointId, CheckpointQuery, Checkpointer, HistoryEntry,
    Loaded, NamespaceQuery, NamespaceRecord, Page, Prune, Pruned, ThreadQuery, ThreadRecord, WriteBatch,
    check_thread_name,
};

/// A checkpoint store in memory, for tests and for threads that need not outlive the process.
///
/// A clone is a handle to the same store.
///
/// ```
/// use superstep::checkpoint::{Checkpointer, MemoryCheckpointer};
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let store = MemoryCheckpointer::default();
/// let loaded = store.get("ticket-17", "", None).await?;
/// assert!(loaded.found.is_none() && loaded.fence.epoch == 0);
/// # Ok::<(), Box<dyn std::error::Error>>(()) })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Durability
/// Committed writes last until the last clone is dropped.
#[derive(Clone, Default)]
pub struct MemoryCheckpointer {
    threads: Arc<Mutex<Threads>>,
}

impl MemoryCheckpointer {
    /// Creates an empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Every section under the lock is short and does not await. A poisoned lock is safe to use, because a thread or a
    /// checkpoint is inserted only after it is complete.
    fn lock(&self) -> MutexGuard<'_, Threads> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[diagnostic::do_not_recommend]
impl Checkpointer for MemoryCheckpointer {
    fn commit(&self, batch: WriteBatch) -> CheckpointFuture<'_, ()> {
        Box::pin(async move {
            batch.check_limits()?;
            self.lock().commit(batch)
        })
    }

    fn get(
        &self,
        thread: &str,
        namespace: &str,
        checkpoint: Option<CheckpointId>,
    ) -> CheckpointFuture<'_, Loaded> {
        let (thread, namespace) = (thread.to_owned(), namespace.to_owned());
        Box::pin(async move {
            Ok(self
                .lock()
                .get(&thread)
                .map_or_else(Loaded::default, |thread| thread.load(&namespace, checkpoint)))
        })
    }

    fn list(&self, query: CheckpointQuery) -> CheckpointFuture<'_, Page<Checkpoint>> {
        Box::pin(async move { Ok(select::checkpoints(&self.lock(), &query)) })
    }

    fn history(&self, query: CheckpointQuery) -> CheckpointFuture<'_, Page<HistoryEntry>> {
        Box::pin(async move { Ok(select::history(&self.lock(), &query)) })
    }

    fn namespaces(&self, query: NamespaceQuery) -> CheckpointFuture<'_, Page<NamespaceRecord>> {
        Box::pin(async move { Ok(select::namespaces(&self.lock(), &query)) })
    }

    fn threads(&self, query: ThreadQuery) -> CheckpointFuture<'_, Page<ThreadRecord>> {
        Box::pin(async move { Ok(select::threads(&self.lock(), &query)) })
    }

    fn delete(&self, thread: &str, epoch: Option<u64>) -> CheckpointFuture<'_, bool> {
        let name: Arc<str> = thread.into();
        Box::pin(async move {
            let mut threads = self.lock();
            let Some(thread) = threads.get(&name) else { return Ok(false) };
            thread.check_epoch(&name, epoch)?;
            Ok(threads.remove(&name))
        })
    }

    fn copy(&self, from: &str, to: &str, epoch: Option<u64>) -> CheckpointFuture<'_, ()> {
        let (from, to): (Arc<str>, Arc<str>) = (from.into(), to.into());
        Box::pin(async move {
            check_thread_name(&to)?;
            let mut threads = self.lock();
            let Some(thread) = threads.get(&from) else {
                return Err(CheckpointError::NoThread { thread: from });
            };
            thread.check_epoch(&from, epoch)?;
            if threads.get(&to).is_some() {
                return Err(CheckpointError::Exists { thread: to });
            }
            let copy = thread.clone();
            threads.insert(to, copy);
            Ok(())
        })
    }

    fn prune(&self, prune: Prune) -> CheckpointFuture<'_, Pruned> {
        Box::pin(async move {
            if let Some(thread) = &prune.thread {
                let dropped = self.lock().get_mut(thread).map_or(0, |thread| thread.prune(&prune));
                return Ok(Pruned::new(dropped));
            }
            // The lock is released after each thread, so that other calls wait for one thread at most.
            let names: Vec<_> = self.lock().by_name().keys().cloned().collect();
            let dropped =
                |name: &Arc<str>| self.lock().get_mut(name).map_or(0, |thread| thread.prune(&prune));
            Ok(Pruned::new(names.iter().map(dropped).sum()))
        })
    }
}

impl fmt::Debug for MemoryCheckpointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MemoryCheckpointer({} threads)", self.lock().by_name().len())
    }
}
