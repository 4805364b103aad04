use std::fmt;
use std::sync::Arc;

use super::keys::Keys;
use super::read::{Reader, corrupt};
use super::write::seal_batch;
use crate::checkpoint::{
    Checkpoint, CheckpointError, CheckpointFuture, CheckpointId, CheckpointQuery, Checkpointer, Loaded, Page,
    Prune, Pruned, StoredCheckpoint, ThreadQuery, ThreadRecord, WriteBatch,
};

/// Encrypts what a store keeps: everything that a state, a node or a person has said is unreadable to whoever has the store
/// and not the key, and cannot be changed unnoticed.
///
/// It stands around any store, and is one:
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
/// // 32 random bytes, from wherever secrets come from in your program.
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
/// # What it protects
///
/// Values of fields, inputs, packets, questions, answers, results of steps and failures are encrypted and authenticated with
/// XChaCha20-Poly1305, each under a random nonce of 24 bytes. Each is bound to where it is: the thread's origin, the
/// namespace, the checkpoint, and there the field with kind and position, or the record's task, kind and key. So is what a
/// checkpoint says of its graph: the planned nodes, its parent, step, source, and its run's id and program; these can be read
/// in the store, but not changed.
///
/// Whatever does not fit is refused as [`CorruptCheckpoint`](CheckpointError::Corrupt), which names thread, checkpoint and what it is, and is
/// never given on: a value that is not encrypted, was changed, cut off, moved from elsewhere, or whose key is not there;
/// pieces that are out of order, there twice, or of a later checkpoint; a checkpoint in another's place.
///
/// # What it does not protect
///
/// - *What is in the clear:* names of threads, namespaces, fields, nodes and runs, keys of records, metadata of runs
///   (they are what is searched for: put no secrets there), times, and how long and how many values are.
/// - *Rollback:* who can write to the store can put back an older state of a thread as a whole, delete a thread or its newest
///   checkpoints, or give a thread another's name: a renamed thread is a copy, and copies are meant to be read.
/// - *Rows that are gone:* who can write to the store can take away a record, put back an older one of the same place, and
///   take away from a field all that one checkpoint wrote to it, or add what another branch of the same thread wrote. What
///   is there was written there; that everything is there is not proven.
/// - *Metadata and time* of a checkpoint, which can be changed.
/// - *The process:* its memory holds states in the clear, and so do events, logs and error texts that it lets out.
///
/// # Keys
///
/// A new key is made the current one, the one before stays as an old one: `Keys::new(second).with_old(first)`. From then on
/// everything is written under the new key and what is there can be read. Nothing is encrypted again, so an old key is needed
/// until the threads from its time are deleted: pruning keeps what a later checkpoint is made of. Threads that a store had before it was encrypted cannot be read
/// through this; they are no less refused than forgeries.
///
/// # Cost
///
/// Each value is 46 bytes longer. Deltas stay deltas. [`list`](Checkpointer::list) asks the store once more, for the thread's
/// origin, and [`threads`](Checkpointer::threads) once for each thread of a page.
///
/// # Durability
/// The store's.
#[derive(Clone)]
pub struct EncryptedCheckpointer<C> {
    store: C,
    keys: Keys,
}

/// Whether something is left to run: nodes are planned, or a resumption has added one.
fn is_unfinished(found: &StoredCheckpoint) -> bool {
    !found.checkpoint.next.is_empty() || found.records.iter().any(|record| record.key.adds_a_node())
}

/// So often a list is read again because its thread was deleted and begun anew in the middle of it.
const TRIES: usize = 8;

impl<C: Checkpointer> EncryptedCheckpointer<C> {
    /// A store around a store.
    pub fn new(store: C, keys: Keys) -> Self {
        Self { store, keys }
    }

    /// The store in which everything is encrypted.
    pub fn store(&self) -> &C {
        &self.store
    }

    fn reader<'a>(&'a self, thread: &'a str, namespace: &'a str, origin: &'a str) -> Reader<'a> {
        Reader { keys: &self.keys, thread, namespace, origin }
    }

    /// What all values of a thread are bound to.
    async fn origin(&self, thread: &str, namespace: &str) -> Result<Option<Arc<str>>, CheckpointError> {
        // No checkpoint has this id, so that the answer is short.
        Ok(self.store.get(thread, namespace, Some(CheckpointId::FIRST)).await?.origin)
    }

    fn open(
        &self,
        thread: &str,
        namespace: &str,
        asked: Option<CheckpointId>,
        loaded: Loaded,
    ) -> Result<Loaded, CheckpointError> {
        let Loaded { fence, origin, found } = loaded;
        let Some(found) = found else { return Ok(Loaded { fence, origin, found }) };
        let id = found.checkpoint.id;
        let wrong = |reason: &str| corrupt(thread, namespace, Some(id), "the checkpoint".to_owned(), reason);
        if Some(id) != asked.or(fence.head) {
            return Err(wrong("another one was asked for"));
        }
        let Some(origin) = origin else { return Err(wrong("its thread has no origin")) };
        let found = self.reader(thread, namespace, &origin).stored(found)?;
        Ok(Loaded { fence, origin: Some(origin), found: Some(found) })
    }

    async fn checkpoints(&self, query: CheckpointQuery) -> Result<Page<Checkpoint>, CheckpointError> {
        let CheckpointQuery { thread, namespace, .. } = &query;
        let (mut tries, mut last) = (0, None);
        loop {
            tries += 1;
            let Page { items, more } = self.store.list(query.clone()).await?;
            if items.is_empty() {
                return Ok(Page { items, more });
            }
            let origin = self.origin(thread, namespace).await?;
            let reader = self.reader(thread, namespace, origin.as_deref().unwrap_or_default());
            match items.into_iter().map(|item| reader.checkpoint(item)).collect() {
                Ok(items) => return Ok(Page { items, more }),
                Err(error) if tries == TRIES || (origin.is_some() && origin == last) => return Err(error),
                // The list may be of a thread that was deleted before the origin was read, of one that has its name now.
                Err(_) => last = origin,
            }
        }
    }

    /// A thread of a list, unless it is gone. What cannot be read of it is said of it alone.
    async fn thread(&self, record: ThreadRecord) -> Result<Option<ThreadRecord>, CheckpointError> {
        let (thread, epoch) = (Arc::clone(&record.thread), record.epoch);
        match self.opened_thread(record).await {
            Err(CheckpointError::Corrupt(corrupt)) => {
                Ok(Some(ThreadRecord { thread, epoch, head: Err(*corrupt), unfinished: true }))
            }
            opened => opened,
        }
    }

    async fn opened_thread(&self, mut record: ThreadRecord) -> Result<Option<ThreadRecord>, CheckpointError> {
        let head = match record.head {
            Ok(Some(head)) => head,
            Ok(None) | Err(_) => return Ok(Some(record)),
        };
        let thread = &record.thread;
        let origin = self.origin(thread, "").await?;
        let opened = self.reader(thread, "", origin.as_deref().unwrap_or_default()).checkpoint(head);
        if let Ok(head) = opened {
            record.head = Ok(Some(head));
            return Ok(Some(record));
        }
        // It may be another thread by now. What a single read gives belongs together.
        let loaded = self.store.get(thread, "", None).await?;
        match (loaded.origin == origin, opened) {
            (true, Err(error)) => Err(error),
            _ => {
                let Loaded { fence, origin, found } = self.open(thread, "", None, loaded)?;
                let unfinished = found.as_ref().is_some_and(is_unfinished);
                let head = Ok(found.map(|found| found.checkpoint));
                Ok(origin.map(|_| ThreadRecord { epoch: fence.epoch, head, unfinished, ..record }))
            }
        }
    }

    async fn page_of_threads(&self, mut query: ThreadQuery) -> Result<Page<ThreadRecord>, CheckpointError> {
        loop {
            let Page { items, more } = self.store.threads(query.clone()).await?;
            let last = items.last().map(|record| Arc::clone(&record.thread));
            let mut opened = Vec::with_capacity(items.len());
            for record in items {
                let record = self.thread(record).await?;
                let fits = |record: &ThreadRecord| !query.unfinished || record.unfinished;
                opened.extend(record.filter(fits));
            }
            // Who asks for the next page says what was last on this one: it is not empty if more is to come.
            if !opened.is_empty() || !more || last.is_none() {
                return Ok(Page { items: opened, more });
            }
            query.after = last;
        }
    }
}

impl<C: Checkpointer> Checkpointer for EncryptedCheckpointer<C> {
    fn commit(&self, mut batch: WriteBatch) -> CheckpointFuture<'_, ()> {
        Box::pin(async move {
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

    fn threads(&self, query: ThreadQuery) -> CheckpointFuture<'_, Page<ThreadRecord>> {
        Box::pin(self.page_of_threads(query))
    }

    fn delete(&self, thread: &str) -> CheckpointFuture<'_, bool> {
        self.store.delete(thread)
    }

    fn copy(&self, from: &str, to: &str) -> CheckpointFuture<'_, ()> {
        self.store.copy(from, to)
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
