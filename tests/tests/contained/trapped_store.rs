//! A checkpointer that may panic, when it is called and while its future is polled.

use std::sync::Arc;

use superstep::checkpoint::{
    Checkpoint, CheckpointFuture, CheckpointId, CheckpointQuery, Checkpointer, HistoryEntry, Loaded,
    NamespaceQuery, NamespaceRecord, Page, Prune, Pruned, ThreadQuery, ThreadRecord, WriteBatch,
};

use super::faults::{Op, hit};

pub(crate) struct Trapped {
    pub(crate) id: u64,
    pub(crate) inner: Arc<dyn Checkpointer>,
}

impl Trapped {
    fn traps<'a, T: 'a>(&'a self, call: CheckpointFuture<'a, T>) -> CheckpointFuture<'a, T> {
        hit(self.id, Op::Store);
        Box::pin(async move {
            hit(self.id, Op::Store);
            let done = call.await;
            hit(self.id, Op::Store);
            done
        })
    }
}

impl Checkpointer for Trapped {
    fn commit(&self, batch: WriteBatch) -> CheckpointFuture<'_, ()> {
        self.traps(self.inner.commit(batch))
    }

    fn get(&self, thread: &str, namespace: &str, at: Option<CheckpointId>) -> CheckpointFuture<'_, Loaded> {
        self.traps(self.inner.get(thread, namespace, at))
    }

    fn list(&self, query: CheckpointQuery) -> CheckpointFuture<'_, Page<Checkpoint>> {
        self.traps(self.inner.list(query))
    }

    fn history(&self, query: CheckpointQuery) -> CheckpointFuture<'_, Page<HistoryEntry>> {
        self.traps(self.inner.history(query))
    }

    fn namespaces(&self, query: NamespaceQuery) -> CheckpointFuture<'_, Page<NamespaceRecord>> {
        self.traps(self.inner.namespaces(query))
    }

    fn threads(&self, query: ThreadQuery) -> CheckpointFuture<'_, Page<ThreadRecord>> {
        self.traps(self.inner.threads(query))
    }

    fn delete(&self, thread: &str, epoch: Option<u64>) -> CheckpointFuture<'_, bool> {
        self.traps(self.inner.delete(thread, epoch))
    }

    fn copy(&self, from: &str, to: &str, epoch: Option<u64>) -> CheckpointFuture<'_, ()> {
        self.traps(self.inner.copy(from, to, epoch))
    }

    fn prune(&self, prune: Prune) -> CheckpointFuture<'_, Pruned> {
        self.traps(self.inner.prune(prune))
    }
}
