use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use superstep_store::checkpoint::{CheckpointError, CheckpointId, Loaded, WriteBatch};
use tokio::sync::oneshot;

use crate::error::{Error, Operation, closed};
use crate::queue::{Queue, Ticket};

use super::write::SubmittedWrite;
use super::{BoxedWrite, Session, SharedSession, WriteStatus};

/// The maximum number of abandoned writes that still run.
const MAX_ABANDONED: usize = 1_024;

/// The queue of the writing thread.
pub(crate) struct WriteQueue {
    queue: Arc<Queue<BoxedWrite>>,
    session: Arc<SharedSession>,
    /// The last abandoned write that still runs; 0 if all have run.
    last_abandoned: AtomicU64,
}

impl WriteQueue {
    pub(crate) fn new() -> Self {
        Self {
            queue: Arc::new(Queue::new(MAX_ABANDONED)),
            session: Arc::default(),
            last_abandoned: AtomicU64::new(0),
        }
    }

    pub(super) fn queue(&self) -> Arc<Queue<BoxedWrite>> {
        Arc::clone(&self.queue)
    }

    pub(super) fn session(&self) -> Arc<SharedSession> {
        Arc::clone(&self.session)
    }

    /// Commits a batch at once, on this thread. Returns `None` if the batch has to be submitted.
    pub(crate) fn commit_inline(&self, batch: &WriteBatch) -> Option<Result<(), CheckpointError>> {
        self.inline(|session| session.commit_inline(batch))
    }

    /// Reads a checkpoint at once, on this thread. Returns `None` if a reader thread has to read it.
    pub(crate) fn read_inline(
        &self,
        thread: &str,
        namespace: &str,
        checkpoint: Option<CheckpointId>,
    ) -> Option<Loaded> {
        self.inline(|session| session.read_inline(thread, namespace, checkpoint))
    }

    fn inline<T>(&self, run: impl FnOnce(&mut Session) -> Option<T>) -> Option<T> {
        self.session.try_with(|session| {
            // The writing thread takes jobs only while it has the session. So all earlier writes are done.
            if self.queue.is_idle() { run(session) } else { None }
        })
    }

    pub(crate) fn close(&self) {
        self.queue.close();
    }

    /// Submits a write at the first poll, and waits until it is durable.
    pub(crate) async fn submit<T: Send + 'static, F>(
        &self,
        operation: Operation,
        long: bool,
        run: F,
    ) -> Result<T, CheckpointError>
    where
        F: FnMut(&mut Session) -> Result<WriteStatus<T>, Error> + Send + 'static,
    {
        let (reply, received) = oneshot::channel();
        let name = operation.name;
        let write = Box::new(SubmittedWrite { operation, run, long, outcome: None, reply });
        let Some(ticket) = self.queue.push(write) else { return Err(closed(name)) };
        let mut waiting = AbandonWriteOnDrop { writes: self, ticket: Some(ticket) };
        let reply = received.await;
        waiting.ticket = None;
        let (outcome, _written) = reply.map_err(|_| {
            CheckpointError::backend(name, "the writing thread has stopped: open the file again")
        })?;
        outcome
    }

    /// Waits until all abandoned writes are done, so that a read sees their results.
    pub(crate) async fn wait_for_abandoned(&self) {
        let last_abandoned = self.last_abandoned.load(Ordering::Acquire);
        if last_abandoned == 0 {
            return;
        }
        // When this write ends, even with an error, all earlier writes have ended.
        let operation = Operation { name: "wait for an earlier write", ..Operation::default() };
        drop(self.submit(operation, false, |_| Ok(WriteStatus::Done(()))).await);
        // Keeps the ticket of a write that was abandoned in the meantime.
        let _ = self.last_abandoned.compare_exchange(last_abandoned, 0, Ordering::AcqRel, Ordering::Relaxed);
    }
}

/// Removes a write from the queue when its future is dropped, unless the queue has accepted it.
struct AbandonWriteOnDrop<'q> {
    writes: &'q WriteQueue,
    ticket: Option<Ticket>,
}

impl Drop for AbandonWriteOnDrop<'_> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket
            && self.writes.queue.abandon(ticket)
        {
            self.writes.last_abandoned.fetch_max(ticket, Ordering::AcqRel);
        }
    }
}
