use std::fmt;
use std::sync::Arc;

use super::keys::Keys;
use super::opener::{Opener, corrupt};
use super::sealer::seal_batch;
use crate::checkpoint::{
    Checkpoint, CheckpointError, CheckpointFuture, CheckpointId, CheckpointQuery, Checkpointer, HistoryEntry,
    Loaded, NamespaceQuery, NamespaceRecord, Page, Prune, Pruned, ThreadQuery, ThreadRecord, WriteBatch,
};

/// A checkpoint store that encrypts the payloads of another one.
///
/// Without the key, the contents of states, nodes' results and answers cannot be read, and they cannot be changed
/// without detection. The wrapper works with any store:
///
/// ```
/// use superstep::checkpoint::{EncryptedCheckpointer, Key, Keys, MemoryCheckpointer};
/// use superstep::{END, GraphState, START, StateGraph};
///
/// #[derive(GraphState, Clone)]
/// struct Patient {
///     #[state(input)]
///     name: String,
/// }
///
/// async fn admit(_: &Patient) {}
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> superstep::Result<()> {
/// # let secret = [7; 32];
/// // 32 random bytes from a key service or another source of secrets.
/// let keys = Keys::new(Key::new(1, &secret));
/// let store = EncryptedCheckpointer::new(MemoryCheckpointer::new(), keys);
///
/// let graph = StateGraph::<Patient>::new().edge(START, admit).edge(admit, END).compile()?;
/// let thread = graph.with_checkpointer(store).thread("bed 12");
/// thread.run(Patient::input("Ada")).await?;
/// # Ok(())
/// # }
/// ```
///
/// # Protected data
///
/// Values of fields, inputs, packets, questions, answers, results of steps and failures are encrypted and
/// authenticated with XChaCha20-Poly1305. Each value has its own random nonce of 24 bytes.
///
/// Each value is bound to its location, so that it cannot be read at another one:
///
/// - the origin of the thread, the namespace and the checkpoint;
/// - for a change of a field: the field, the kind and the position in the checkpoint;
/// - for a record: its task, kind and key.
///
/// The plan of a checkpoint is authenticated but not encrypted. It can be read in the store, but not changed: the
/// planned nodes, the parent, the step, the source, and the id and program of the run.
///
/// Invalid data is never returned. A read fails with [`Corrupt`](CheckpointError::Corrupt), which names the thread, the
/// checkpoint and the damaged part, if it finds one of these:
///
/// - a value that is not encrypted, was changed, truncated or moved, or whose key is missing;
/// - changes of a field that are out of order, duplicated, or of a later checkpoint;
/// - a checkpoint in the place of another.
///
/// # Limits
///
/// - *Names and sizes* are in the clear: names of threads, namespaces, fields, nodes and runs, keys of records, times,
///   the status of threads, and the number and length of values. So is the metadata of runs, because queries filter by it. Put no secrets
///   there.
/// - *Rollback:* an attacker with write access to the store can restore an older state of a whole thread, delete a
///   thread or its newest checkpoints, or rename a thread. A renamed thread is a copy, and copies can be read.
/// - *Missing rows:* an attacker with write access can remove a record or restore an older one with the same key. The
///   attacker can also remove all changes of one checkpoint to a field, or add those of another branch of the thread.
///   Every value that is read was written at its location, but completeness is not proven.
/// - *Metadata and time* of a checkpoint can be changed. So can the status of a thread, which hides it from lists.
/// - *The process* has states in the clear in its memory, and in the events, logs and error messages that it emits.
///
/// # Keys
///
/// To rotate keys, make the new key the current one and keep the previous one as an old key:
/// `Keys::new(second).with_old(first)`. New writes use the new key, and existing data stays readable. Existing data is
/// not encrypted again. Keep an old key until the threads of its time are deleted: pruning keeps changes that later
/// checkpoints need.
///
/// Threads that were written without encryption cannot be read through this store. They fail like forged data.
///
/// # Cost
///
/// - Each value is 46 bytes longer. Deltas stay deltas.
/// - [`list`](Checkpointer::list), [`history`](Checkpointer::history) and [`namespaces`](Checkpointer::namespaces) make
///   one more call to the inner store, for the origin of the thread.
/// - [`threads`](Checkpointer::threads) makes one more call for each thread of a page.
///
/// # Durability
/// The same as that of the inner store.
#[derive(Clone)]
pub struct EncryptedCheckpointer<C> {
    store: C,
    keys: Keys,
}

/// The maximum number of reads of a list whose thread is deleted and recreated during the reads.
const MAX_TRIES: usize = 8;

impl<C: Checkpointer> EncryptedCheckpointer<C> {
    /// Creates a store that encrypts the payloads of `store`.
    pub fn new(store: C, keys: Keys) -> Self {
        Self { store, keys }
    }

    /// Returns the inner store, whose payloads are encrypted.
    pub fn store(&self) -> &C {
        &self.store
    }

    fn opener<'a>(&'a self, thread: &'a str, namespace: &'a str, origin: &'a str) -> Opener<'a> {
        Opener { keys: &self.keys, thread, namespace, origin }
    }

    /// Reads the origin of a thread, to which all of its values are bound.
    async fn origin(&self, thread: &str, namespace: &str) -> Result<Option<Arc<str>>, CheckpointError> {
        // No checkpoint has this id, so the store reads no values.
        Ok(self.store.get(thread, namespace, Some(CheckpointId::FIRST)).await?.origin)
    }

    fn open(
        &self,
        thread: &str,
        namespace: &str,
        requested: Option<CheckpointId>,
        loaded: Loaded,
    ) -> Result<Loaded, CheckpointError> {
        let Loaded { fence, origin, status, found } = loaded;
        let Some(found) = found else { return Ok(Loaded { fence, origin, status, found }) };
        let id = found.checkpoint.id;
        let invalid =
            |reason: &str| corrupt(thread, namespace, Some(id), "the checkpoint".to_owned(), reason);
        if Some(id) != requested.or(fence.head) {
            return Err(invalid("it is not the requested checkpoint"));
        }
        let Some(origin) = origin else { return Err(invalid("the thread has no origin")) };
        let found = self.opener(thread, namespace, &origin).stored(found)?;
        Ok(Loaded { fence, origin: Some(origin), status, found: Some(found) })
    }

    async fn checkpoints(&self, query: CheckpointQuery) -> Result<Page<Checkpoint>, CheckpointError> {
        let list = || self.store.list(query.clone());
        let open = |opener: Opener<'_>, items: Vec<_>| -> Result<Vec<_>, _> {
            items.into_iter().map(|item| opener.checkpoint(item)).collect()
        };
        self.open_page(&query, list, open).await
    }

    async fn page_of_history(&self, query: CheckpointQuery) -> Result<Page<HistoryEntry>, CheckpointError> {
        let list = || self.store.history(query.clone());
        self.open_page(&query, list, |opener, items| opener.entries(items)).await
    }

    /// Lists a page of a namespace, and opens it with the origin of the thread.
    async fn open_page<'a, T>(
        &'a self,
        query: &CheckpointQuery,
        list: impl Fn() -> CheckpointFuture<'a, Page<T>>,
        open: impl Fn(Opener<'_>, Vec<T>) -> Result<Vec<T>, CheckpointError>,
    ) -> Result<Page<T>, CheckpointError> {
        let CheckpointQuery { thread, namespace, .. } = query;
        let (mut tries, mut last) = (0, None);
        loop {
            tries += 1;
            let Page { items, more } = list().await?;
            if items.is_empty() {
                return Ok(Page { items, more });
            }
            let origin = self.origin(thread, namespace).await?;
            let opener = self.opener(thread, namespace, origin.as_deref().unwrap_or_default());
            match open(opener, items) {
                Ok(items) => return Ok(Page { items, more }),
                Err(error) if tries == MAX_TRIES || (origin.is_some() && origin == last) => {
                    return Err(error);
                }
                // The thread may have been deleted and recreated between the list and the read of the origin.
                Err(_) => last = origin,
            }
        }
    }

    async fn page_of_namespaces(
        &self,
        query: NamespaceQuery,
    ) -> Result<Page<NamespaceRecord>, CheckpointError> {
        let thread = &query.thread;
        let (mut tries, mut last) = (0, None);
        loop {
            tries += 1;
            let Page { items, more } = self.store.namespaces(query.clone()).await?;
            if items.is_empty() {
                return Ok(Page { items, more });
            }
            let origin = self.origin(thread, "").await?;
            let mut is_damaged = false;
            let mut opened = Vec::with_capacity(items.len());
            for NamespaceRecord { namespace, head } in items {
                let opener = self.opener(thread, &namespace, origin.as_deref().unwrap_or_default());
                let head = match head.map(|head| opener.checkpoint(head)) {
                    Ok(Err(CheckpointError::Corrupt(corrupt))) => {
                        is_damaged = true;
                        Err(*corrupt)
                    }
                    Ok(Err(error)) => return Err(error),
                    Ok(Ok(head)) => Ok(head),
                    Err(corrupt) => Err(corrupt),
                };
                opened.push(NamespaceRecord { namespace, head });
            }
            if !is_damaged || tries == MAX_TRIES || (origin.is_some() && origin == last) {
                return Ok(Page { items: opened, more });
            }
            // The thread may have been deleted and recreated between the list and the read of the origin.
            last = origin;
        }
    }

    /// Opens a thread of a list. Returns `None` if the thread was deleted. An unreadable head is an error of this
    /// record only.
    async fn thread(&self, record: ThreadRecord) -> Result<Option<ThreadRecord>, CheckpointError> {
        let (thread, epoch, status) = (Arc::clone(&record.thread), record.epoch, record.status);
        match self.open_thread(record).await {
            Err(CheckpointError::Corrupt(corrupt)) => {
                Ok(Some(ThreadRecord { thread, epoch, head: Err(*corrupt), status }))
            }
            opened => opened,
        }
    }

    async fn open_thread(&self, mut record: ThreadRecord) -> Result<Option<ThreadRecord>, CheckpointError> {
        let head = match record.head {
            Ok(Some(head)) => head,
            Ok(None) | Err(_) => return Ok(Some(record)),
        };
        let thread = &record.thread;
        let origin = self.origin(thread, "").await?;
        let opened = self.opener(thread, "", origin.as_deref().unwrap_or_default()).checkpoint(head);
        if let Ok(head) = opened {
            record.head = Ok(Some(head));
            return Ok(Some(record));
        }
        // The thread may have been recreated meanwhile. The parts of a single read belong together.
        let loaded = self.store.get(thread, "", None).await?;
        match (loaded.origin == origin, opened) {
            (true, Err(error)) => Err(error),
            _ => {
                let Loaded { fence, origin, status, found } = self.open(thread, "", None, loaded)?;
                let head = Ok(found.map(|found| found.checkpoint));
                Ok(origin.map(|_| ThreadRecord { epoch: fence.epoch, head, status, ..record }))
            }
        }
    }

    async fn page_of_threads(&self, mut query: ThreadQuery) -> Result<Page<ThreadRecord>, CheckpointError> {
        loop {
            let Page { items, more } = self.store.threads(query.clone()).await?;
            let last = items.last().cloned();
            let mut opened = Vec::with_capacity(items.len());
            for record in items {
                let record = self.thread(record).await?;
                let is_selected = |record: &ThreadRecord| {
                    let run = record.head.as_ref().map(|head| head.as_ref().map(|head| &*head.run));
                    // The inner store has compared the metadata of a thread whose head cannot be read.
                    query.selects(&record.status) && run.map_or(true, |run| query.selects_run(run))
                };
                opened.extend(record.filter(is_selected));
            }
            // The next query starts after the last item of this page, so a page with `more` is never empty.
            match last {
                Some(last) if opened.is_empty() && more => query = query.continue_after(&last),
                _ => return Ok(Page { items: opened, more }),
            }
        }
    }
}

impl<C: Checkpointer> Checkpointer for EncryptedCheckpointer<C> {
    fn commit(&self, mut batch: WriteBatch) -> CheckpointFuture<'_, ()> {
        Box::pin(async move {
            // Before encryption, which makes payloads longer.
            batch.check_limits()?;
            seal_batch(&self.keys, &mut batch)?;
            self.store.commit(batch).await
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
            let loaded = self.store.get(&thread, &namespace, checkpoint).await?;
            self.open(&thread, &namespace, checkpoint, loaded)
        })
    }

    fn list(&self, query: CheckpointQuery) -> CheckpointFuture<'_, Page<Checkpoint>> {
        Box::pin(self.checkpoints(query))
    }

    fn history(&self, query: CheckpointQuery) -> CheckpointFuture<'_, Page<HistoryEntry>> {
        Box::pin(self.page_of_history(query))
    }

    fn namespaces(&self, query: NamespaceQuery) -> CheckpointFuture<'_, Page<NamespaceRecord>> {
        Box::pin(self.page_of_namespaces(query))
    }

    fn threads(&self, query: ThreadQuery) -> CheckpointFuture<'_, Page<ThreadRecord>> {
        Box::pin(self.page_of_threads(query))
    }

    fn delete(&self, thread: &str, epoch: Option<u64>) -> CheckpointFuture<'_, bool> {
        self.store.delete(thread, epoch)
    }

    fn copy(&self, from: &str, to: &str, epoch: Option<u64>) -> CheckpointFuture<'_, ()> {
        self.store.copy(from, to, epoch)
    }

    fn prune(&self, prune: Prune) -> CheckpointFuture<'_, Pruned> {
        self.store.prune(prune)
    }
}

impl<C> fmt::Debug for EncryptedCheckpointer<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EncryptedCheckpointer").field("keys", &self.keys).finish_non_exhaustive()
    }
}
