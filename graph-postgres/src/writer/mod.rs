//! Writing: queues, each of which commits all waiting batches in one call to the database.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use superstep_store::checkpoint::{CheckpointError, WriteBatch};
use tokio::sync::oneshot;

use crate::database::Database;
use crate::error::Failure;

mod commit;
mod job;
mod known_runs;
mod lists;
mod plan;
mod shard;
mod threads;

pub(crate) use lists::PARAMS as COMMIT_PARAMS;

use job::{CommitJob, CopyJob, DeleteJob, Job, Reply};
use shard::{Shard, Ticket};

/// The writers of a store. The writes of a thread go to the same one, which keeps their order.
pub(crate) struct Writer {
    shards: Box<[Arc<Shard>]>,
    random: RandomState,
    next_token: AtomicU64,
}

impl Writer {
    pub(crate) fn new(shards: usize) -> Self {
        let shards = (0..shards.max(1)).map(|_| Arc::default()).collect();
        Self { shards, random: RandomState::new(), next_token: AtomicU64::new(0) }
    }

    /// Commits a batch. The first poll submits it.
    pub(crate) async fn commit(
        &self,
        database: &Arc<Database>,
        batch: WriteBatch,
    ) -> Result<(), CheckpointError> {
        let (thread, token) = (Arc::clone(&batch.thread), self.token());
        let job = |reply| Job::Commit(Box::new(CommitJob { batch, token, reply }));
        self.submit(database, &thread, "write a checkpoint", job).await
    }

    /// Deletes a thread, if it has this epoch.
    pub(crate) async fn delete(
        &self,
        database: &Arc<Database>,
        thread: Arc<str>,
        epoch: Option<u64>,
    ) -> Result<bool, CheckpointError> {
        let name = Arc::clone(&thread);
        let job = |reply| Job::Delete(DeleteJob { thread, epoch, reply });
        self.submit(database, &name, "delete a thread", job).await
    }

    /// Copies a thread, if it has this epoch.
    pub(crate) async fn copy(
        &self,
        database: &Arc<Database>,
        from: Arc<str>,
        to: Arc<str>,
        epoch: Option<u64>,
    ) -> Result<(), CheckpointError> {
        let (name, token) = (Arc::clone(&from), self.token());
        let job = |reply| Job::Copy(CopyJob { from, to, epoch, token, reply });
        self.submit(database, &name, "copy a thread", job).await
    }

    async fn submit<T>(
        &self,
        database: &Arc<Database>,
        thread: &str,
        operation: &'static str,
        job: impl FnOnce(Reply<T>) -> Job,
    ) -> Result<T, CheckpointError> {
        let (reply, received) = oneshot::channel();
        let Some(shard) = self.shard(thread) else { return Err(Failure::closed().checkpoint(operation)) };
        let Some(ticket) = shard.push(job(reply), database) else {
            return Err(Failure::closed().checkpoint(operation));
        };
        let mut waiting = AbandonOnDrop { shard, ticket: Some(ticket) };
        let done = received.await;
        waiting.ticket = None;
        done.unwrap_or_else(|_| {
            Err(Failure::backend("the thread of the store has stopped: connect again").checkpoint(operation))
        })
    }

    /// Waits until all writes are done whose callers have dropped them, so that a read sees their results.
    pub(crate) async fn wait_for_abandoned(&self) {
        for shard in &self.shards {
            shard.wait_for_abandoned().await;
        }
    }

    /// Refuses later writes, and waits until the accepted ones are done.
    pub(crate) async fn close(&self) {
        self.shards.iter().for_each(|shard| shard.close());
        for shard in &self.shards {
            shard.wait_for_all().await;
        }
    }

    fn shard(&self, thread: &str) -> Option<&Arc<Shard>> {
        let hash = usize::try_from(self.random.hash_one(thread) >> 32).unwrap_or_default();
        self.shards.get(hash % self.shards.len().max(1))
    }

    /// Returns a number by which the database recognizes a batch that is sent again.
    fn token(&self) -> i64 {
        self.random.hash_one(self.next_token.fetch_add(1, Ordering::Relaxed)).cast_signed()
    }
}

/// Tells the shard that the caller of a write no longer waits for it.
struct AbandonOnDrop<'w> {
    shard: &'w Shard,
    ticket: Option<Ticket>,
}

impl Drop for AbandonOnDrop<'_> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            self.shard.abandon(ticket);
        }
    }
}
