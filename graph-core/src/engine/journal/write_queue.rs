//! The writes of a run that are not yet durable.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::checkpoint::{
    BatchWrite, CheckpointError, CheckpointId, Fence, StatusKind, StoredStatus, WriteBatch,
};
use crate::options::Durability;

use super::deferred_writes::DeferredWrites;

/// The writes of a run that no batch contains yet, with the fence that the next batch follows.
pub(super) struct WriteQueue {
    queue: VecDeque<BatchWrite>,
    pub(super) deferred: DeferredWrites,
    /// The status of the thread that the next batch writes.
    status: Option<StoredStatus>,
    /// `true` if a batch is written even if the queue is empty, to raise the epoch.
    pub(super) claims: bool,
    /// The thread's fence after all batches in flight are written.
    fence: Fence,
    /// The newest durable checkpoint.
    pub(super) durable_head: Option<CheckpointId>,
    /// The epoch to which this run raises the thread.
    pub(super) epoch: u64,
    /// The number of writes that were queued so far. `durable` counts the durable ones among them.
    pub(super) queued: u64,
    pub(super) durable: u64,
    pub(super) failed: Option<Arc<CheckpointError>>,
}

/// The state of a queue after the batch in flight is durable.
#[derive(Clone, Copy)]
pub(super) struct AfterBatch {
    fence: Fence,
    durable: u64,
}

impl WriteQueue {
    /// Creates an empty queue for a run that found the thread at `fence` and raises it to `epoch`.
    pub(super) fn new(fence: Fence, epoch: u64) -> Self {
        Self {
            queue: VecDeque::new(),
            deferred: DeferredWrites::default(),
            status: None,
            claims: false,
            fence,
            durable_head: fence.head,
            epoch,
            queued: 0,
            durable: 0,
            failed: None,
        }
    }

    /// Returns the number of writes that wait for the next batch.
    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    /// Returns `true` if neither a write nor a status waits to be written.
    pub(super) fn has_no_writes(&self) -> bool {
        self.queue.is_empty() && self.status.is_none()
    }

    /// Returns `true` if nothing waits to be written.
    pub(super) fn is_idle(&self) -> bool {
        self.queue.is_empty() && !self.claims
    }

    /// Adds a write, or defers it with durability `Exit`. Returns `true` if it was added.
    pub(super) fn push(&mut self, write: BatchWrite, durability: Durability) -> bool {
        let write = match durability {
            Durability::Exit => self.deferred.defer(write),
            Durability::Sync | Durability::Async => Some(write),
        };
        let Some(write) = write else { return false };
        self.add(write);
        true
    }

    /// Adds a write after those before it.
    pub(super) fn add(&mut self, write: BatchWrite) {
        self.queued += 1;
        self.queue.push_back(write);
    }

    /// Adds the deferred writes. Returns `true` if there were any.
    pub(super) fn release(&mut self) -> bool {
        self.status = self.deferred.status.take().or(self.status);
        let writes = self.deferred.release();
        let any = !writes.is_empty();
        for write in writes {
            self.add(write);
        }
        any
    }

    /// Sets the status that the next batch writes, whatever the durability.
    pub(super) fn set_status_now(&mut self, status: StoredStatus) {
        self.status = Some(status);
    }

    /// Sets the status of the thread after the writes that were pushed so far.
    pub(super) fn set_status(&mut self, status: StoredStatus, durability: Durability) {
        if durability == Durability::Exit && status.kind != StatusKind::Running {
            self.deferred.status = Some(status);
        } else {
            self.deferred.status = None;
            self.status = Some(status);
        }
    }

    /// Drops all writes and refuses later ones, for the first of several reasons.
    pub(super) fn fail(&mut self, why: Arc<CheckpointError>) {
        self.queue.clear();
        self.status = None;
        self.failed.get_or_insert(why);
    }

    /// Returns the error that has stopped all writing, if there is one.
    pub(super) fn failure(&self) -> Result<(), Arc<CheckpointError>> {
        match &self.failed {
            Some(failed) => Err(Arc::clone(failed)),
            None => Ok(()),
        }
    }

    /// Takes the queue as a batch.
    pub(super) fn next_batch(
        &mut self,
        thread: &Arc<str>,
        namespace: &Arc<str>,
        origin: &Arc<str>,
    ) -> Option<(WriteBatch, AfterBatch)> {
        let claims = std::mem::take(&mut self.claims);
        if (self.has_no_writes() && !claims) || self.failed.is_some() {
            return None;
        }
        let writes: Vec<BatchWrite> = self.queue.drain(..).collect();
        let head = writes.iter().rev().find_map(|write| match write {
            BatchWrite::Checkpoint(new) => Some(Some(new.checkpoint.id)),
            BatchWrite::RollBack { namespace: rolled, to, .. } => (rolled == namespace).then_some(*to),
            BatchWrite::Records { .. } => None,
        });
        let before = self.fence;
        // The next batch builds on this one. If this one fails, no other follows.
        self.fence = Fence::new(self.epoch, head.unwrap_or(before.head));
        let batch = WriteBatch::new(Arc::clone(thread), Arc::clone(origin), before)
            .namespace(Arc::clone(namespace))
            .epoch(self.epoch)
            .status(self.status.take())
            .writes(writes);
        Some((batch, AfterBatch { fence: self.fence, durable: self.queued }))
    }

    /// Records the result of a batch.
    pub(super) fn complete(&mut self, result: Result<(), CheckpointError>, after: AfterBatch) {
        match result {
            Ok(()) => (self.durable_head, self.durable) = (after.fence.head, after.durable),
            Err(error) => {
                self.failed = Some(Arc::new(error));
                self.queue.clear();
            }
        }
    }
}
