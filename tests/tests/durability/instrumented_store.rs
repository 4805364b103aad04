//! A store that wraps another one: it records acknowledgements, adds delays, and injects failures.

use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;

use superstep::checkpoint::{
    BatchWrite, Checkpoint, CheckpointError, CheckpointFuture, CheckpointId, CheckpointQuery, Checkpointer,
    HistoryEntry, Loaded, NamespaceQuery, NamespaceRecord, Page, Prune, Pruned, RecordKind, ThreadQuery,
    ThreadRecord, WriteBatch,
};

use crate::journal::Journal;

#[derive(Clone)]
pub(crate) struct InstrumentedStore<C> {
    pub(crate) inner: C,
    pub(crate) journal: Arc<Journal>,
    /// The delay in polls before each operation, and again before its result.
    pub(crate) slow: u32,
    /// The additional delay of commits outside of subgraph calls.
    pub(crate) slow_outside_calls: u32,
    /// The commit that fails, counted from 0.
    pub(crate) fails: Option<(usize, Fault)>,
    /// The read that fails, counted from 0.
    pub(crate) failing_read: Option<usize>,
    /// Receives all committed batches.
    pub(crate) batches: Option<Arc<Mutex<Vec<WriteBatch>>>>,
    commits: Arc<AtomicUsize>,
    reads: Arc<AtomicUsize>,
    active: Arc<AtomicUsize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The commit fails and writes nothing.
    Before,
    /// The commit writes everything, but reports a failure.
    After,
}

impl<C> InstrumentedStore<C> {
    pub(crate) fn new(inner: C, journal: Arc<Journal>) -> Self {
        Self {
            inner,
            journal,
            slow: 0,
            slow_outside_calls: 0,
            fails: None,
            failing_read: None,
            batches: None,
            commits: Arc::default(),
            reads: Arc::default(),
            active: Arc::default(),
        }
    }

    /// Returns `true` if no operation is active.
    pub(crate) fn is_idle(&self) -> bool {
        self.active.load(Ordering::SeqCst) == 0
    }

    /// Counts a read, and fails if it is the one to fail.
    fn read(&self) -> Result<(), CheckpointError> {
        if self.failing_read == Some(self.reads.fetch_add(1, Ordering::SeqCst)) {
            return Err(CheckpointError::backend("read a checkpoint", "the cable was pulled"));
        }
        Ok(())
    }

    fn record_checkpoint(&self, word: &str, checkpoint: &Checkpoint) {
        self.journal.record(format!(
            "{word} {} {} {}",
            checkpoint.id,
            checkpoint.step,
            checkpoint.next.join(",")
        ));
    }

    /// Records the acknowledgements of a store for this batch.
    pub(crate) fn record_batch(&self, batch: &WriteBatch) {
        for write in &batch.writes {
            match write {
                BatchWrite::Checkpoint(new) => self.record_checkpoint("stored", &new.checkpoint),
                BatchWrite::Records { checkpoint, put, .. } => {
                    for record in put.iter().filter(|record| record.key.kind == RecordKind::Finished) {
                        self.journal.record(format!("finished {checkpoint} {}", record.key.task));
                    }
                }
                BatchWrite::RollBack { .. } => {}
            }
        }
    }
}

/// Counts an active operation until it is dropped.
struct ActiveOperation(Arc<AtomicUsize>);

impl ActiveOperation {
    fn of<C>(store: &InstrumentedStore<C>) -> Self {
        store.active.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(&store.active))
    }
}

impl Drop for ActiveOperation {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Returns `Pending` this number of times, and wakes the task each time.
pub(crate) async fn stay_pending(times: u32) {
    let mut left = times;
    poll_fn(|cx| {
        if left == 0 {
            return Poll::Ready(());
        }
        left -= 1;
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

fn commit_error() -> CheckpointError {
    CheckpointError::backend("write a checkpoint", "the cable was pulled")
}

impl<C: Checkpointer> Checkpointer for InstrumentedStore<C> {
    fn commit(&self, batch: WriteBatch) -> CheckpointFuture<'_, ()> {
        Box::pin(async move {
            let _active = ActiveOperation::of(self);
            let count = self.commits.fetch_add(1, Ordering::SeqCst);
            let fault = self.fails.filter(|(nth, _)| *nth == count).map(|(_, fault)| fault);
            stay_pending(self.slow + if batch.namespace.is_empty() { self.slow_outside_calls } else { 0 })
                .await;
            if fault == Some(Fault::Before) {
                return Err(commit_error());
            }
            self.inner.commit(batch.clone()).await?;
            if let Some(batches) = &self.batches {
                batches.lock().unwrap().push(batch.clone());
            }
            if fault == Some(Fault::After) {
                return Err(commit_error());
            }
            stay_pending(self.slow).await;
            self.record_batch(&batch);
            Ok(())
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
            let _active = ActiveOperation::of(self);
            stay_pending(self.slow).await;
            self.read()?;
            let loaded = self.inner.get(&thread, &namespace, checkpoint).await?;
            if let Some(found) = &loaded.found {
                self.record_checkpoint("planned", &found.checkpoint);
            }
            Ok(loaded)
        })
    }

    fn list(&self, query: CheckpointQuery) -> CheckpointFuture<'_, Page<Checkpoint>> {
        Box::pin(async move {
            let _active = ActiveOperation::of(self);
            self.read()?;
            self.inner.list(query).await
        })
    }

    fn history(&self, query: CheckpointQuery) -> CheckpointFuture<'_, Page<HistoryEntry>> {
        Box::pin(async move {
            let _active = ActiveOperation::of(self);
            self.read()?;
            self.inner.history(query).await
        })
    }

    fn namespaces(&self, query: NamespaceQuery) -> CheckpointFuture<'_, Page<NamespaceRecord>> {
        self.inner.namespaces(query)
    }

    fn threads(&self, query: ThreadQuery) -> CheckpointFuture<'_, Page<ThreadRecord>> {
        self.inner.threads(query)
    }

    fn delete(&self, thread: &str, epoch: Option<u64>) -> CheckpointFuture<'_, bool> {
        self.inner.delete(thread, epoch)
    }

    fn copy(&self, from: &str, to: &str, epoch: Option<u64>) -> CheckpointFuture<'_, ()> {
        self.inner.copy(from, to, epoch)
    }

    fn prune(&self, prune: Prune) -> CheckpointFuture<'_, Pruned> {
        self.inner.prune(prune)
    }
}
