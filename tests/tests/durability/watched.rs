//! A store around another one: it tells what was acknowledged, is slow, and fails when it is asked to.

use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;

use superstep::checkpoint::{
    BatchWrite, Checkpoint, CheckpointError, CheckpointFuture, CheckpointId, CheckpointQuery, Checkpointer,
    Loaded, Page, Prune, Pruned, RecordKind, ThreadQuery, ThreadRecord, WriteBatch,
};

use crate::truth::Truth;

#[derive(Clone)]
pub(crate) struct Watched<C> {
    pub(crate) inner: C,
    pub(crate) truth: Arc<Truth>,
    /// So many polls go by before anything is done, and again before it is said.
    pub(crate) slow: u32,
    /// So many more before anything is done that is no call's.
    pub(crate) slow_around: u32,
    /// Which commit fails, counted from 0.
    pub(crate) fails: Option<(usize, Fault)>,
    /// Which read fails, counted from 0.
    pub(crate) fails_to_read: Option<usize>,
    /// Everything that is committed.
    pub(crate) batches: Option<Arc<Mutex<Vec<WriteBatch>>>>,
    commits: Arc<AtomicUsize>,
    reads: Arc<AtomicUsize>,
    under_way: Arc<AtomicUsize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing is written.
    Before,
    /// Everything is written, and nobody is told.
    After,
}

impl<C> Watched<C> {
    pub(crate) fn new(inner: C, truth: Arc<Truth>) -> Self {
        Self {
            inner,
            truth,
            slow: 0,
            slow_around: 0,
            fails: None,
            fails_to_read: None,
            batches: None,
            commits: Arc::default(),
            reads: Arc::default(),
            under_way: Arc::default(),
        }
    }

    /// Whether nobody waits for it.
    pub(crate) fn is_idle(&self) -> bool {
        self.under_way.load(Ordering::SeqCst) == 0
    }

    /// Counts a read, which may be the one that fails.
    fn read(&self) -> Result<(), CheckpointError> {
        if self.fails_to_read == Some(self.reads.fetch_add(1, Ordering::SeqCst)) {
            return Err(CheckpointError::backend("read a checkpoint", "the cable was pulled"));
        }
        Ok(())
    }

    fn tell_plan(&self, word: &str, checkpoint: &Checkpoint) {
        self.truth.tell(format!(
            "{word} {} {} {}",
            checkpoint.id,
            checkpoint.step,
            checkpoint.next.join(",")
        ));
    }

    /// Tells what a store that has taken this batch has acknowledged.
    pub(crate) fn tell(&self, batch: &WriteBatch) {
        for write in &batch.writes {
            match write {
                BatchWrite::Checkpoint(new) => self.tell_plan("stored", &new.checkpoint),
                BatchWrite::Records { checkpoint, put, .. } => {
                    for record in put.iter().filter(|record| record.key.kind == RecordKind::Finished) {
                        self.truth.tell(format!("finished {checkpoint} {}", record.key.task));
                    }
                }
            }
        }
    }
}

/// A call under way.
struct Call(Arc<AtomicUsize>);

impl Call {
    fn of<C>(store: &Watched<C>) -> Self {
        store.under_way.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(&store.under_way))
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Is pending so many times, woken each time.
pub(crate) async fn pause(times: u32) {
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

fn broken() -> CheckpointError {
    CheckpointError::backend("write a checkpoint", "the cable was pulled")
}

impl<C: Checkpointer> Checkpointer for Watched<C> {
    fn commit(&self, batch: WriteBatch) -> CheckpointFuture<'_, ()> {
        Box::pin(async move {
            let _call = Call::of(self);
            let count = self.commits.fetch_add(1, Ordering::SeqCst);
            let fault = self.fails.filter(|(nth, _)| *nth == count).map(|(_, fault)| fault);
            pause(self.slow + if batch.namespace.is_empty() { self.slow_around } else { 0 }).await;
            if fault == Some(Fault::Before) {
                return Err(broken());
            }
            self.inner.commit(batch.clone()).await?;
            if let Some(batches) = &self.batches {
                batches.lock().unwrap().push(batch.clone());
            }
            if fault == Some(Fault::After) {
                return Err(broken());
            }
            pause(self.slow).await;
            self.tell(&batch);
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
            let _call = Call::of(self);
            pause(self.slow).await;
            self.read()?;
            let loaded = self.inner.get(&thread, &namespace, checkpoint).await?;
            if let Some(found) = &loaded.found {
                self.tell_plan("planned", &found.checkpoint);
            }
            Ok(loaded)
        })
    }

    fn list(&self, query: CheckpointQuery) -> CheckpointFuture<'_, Page<Checkpoint>> {
        Box::pin(async move {
            let _call = Call::of(self);
            self.read()?;
            self.inner.list(query).await
        })
    }

    fn threads(&self, query: ThreadQuery) -> CheckpointFuture<'_, Page<ThreadRecord>> {
        self.inner.threads(query)
    }

    fn delete(&self, thread: &str) -> CheckpointFuture<'_, bool> {
        self.inner.delete(thread)
    }

    fn copy(&self, from: &str, to: &str) -> CheckpointFuture<'_, ()> {
        self.inner.copy(from, to)
    }

    fn prune(&self, prune: Prune) -> CheckpointFuture<'_, Pruned> {
        self.inner.prune(prune)
    }
}
