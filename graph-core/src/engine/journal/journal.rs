use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::checkpoint::{CheckpointError, CheckpointId, Checkpointer, Fence, StatusKind, StoredStatus};
use crate::contain::{contained, discard};
use crate::options::Durability;

use super::handle::JournalHandle;
use super::write_queue::AfterBatch;

/// The writes of a run on their way to the store: in order, one batch at a time.
///
/// Writes that are pushed while a batch is in flight form the next batch. Every holder of [`JournalHandle`] may push; only
/// the owner, the driver, polls.
pub(crate) struct Journal {
    pub(crate) shared: Arc<JournalHandle>,
    in_flight: Option<InFlight>,
    /// `true` once the thread or the subgraph call belongs to this run. Before that nothing may be written, because
    /// the run may still be refused.
    begun: bool,
    /// For a subgraph run: completes when the writes of all parent runs are durable. Nothing of the subgraph run is
    /// written before that.
    ///
    /// Otherwise a crash could leave the beginning of a call that no checkpoint has planned. It would hide the
    /// previous call, from which the thread has to continue.
    parents: Option<Durable<'static>>,
}

/// A wait until writes are durable.
pub(crate) type Durable<'a> = Pin<Box<dyn Future<Output = Result<(), Arc<CheckpointError>>> + Send + 'a>>;

struct InFlight {
    commit: Pin<Box<dyn Future<Output = Result<(), CheckpointError>> + Send>>,
    after: AfterBatch,
}

/// The queue length from which a run waits for its store.
const AHEAD: usize = 256;

impl Journal {
    /// Creates the journal of a run that found the thread at `fence`.
    pub(crate) fn new(
        store: Arc<dyn Checkpointer>,
        thread: Arc<str>,
        namespace: Arc<str>,
        origin: Arc<str>,
        fence: Fence,
        durability: Durability,
    ) -> Self {
        let shared = JournalHandle::new(store, thread, namespace, origin, fence, durability);
        Self::of(shared, None)
    }

    /// Creates the journal of a subgraph run in a task of the parent run. It has the parent run's epoch, and its own
    /// namespace with the head `head`.
    pub(crate) fn of_call(
        parent: &Arc<JournalHandle>,
        task: u32,
        namespace: Arc<str>,
        head: Option<CheckpointId>,
        durability: Durability,
    ) -> Self {
        let shared = JournalHandle::of_call(parent, task, namespace, head, durability);
        let parent = Arc::clone(parent);
        let parents: Durable<'static> = Box::pin(async move { parent.durable_with_parents().await });
        Self::of(shared, Some(parents))
    }

    fn of(shared: JournalHandle, parents: Option<Durable<'static>>) -> Self {
        Self { shared: Arc::new(shared), in_flight: None, begun: false, parents }
    }

    /// Marks the thread as running, from the first write.
    pub(crate) fn runs(&self) {
        self.shared.begin_with_status(StoredStatus::new(StatusKind::Running));
    }

    /// Allows writing. From now on, dropping the journal also writes its queue.
    pub(crate) fn begins(this: &Mutex<Self>) {
        lock(this).begun = true;
    }

    /// Writes as much as possible now. Ready when nothing is left to write.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.poll_batches(cx, false)
    }

    /// Waits until nothing is left to write. The run has nothing else to do meanwhile.
    async fn wait(this: &Mutex<Self>) {
        poll_fn(|cx| lock(this).poll_batches(cx, true)).await;
    }

    fn poll_batches(&mut self, cx: &mut Context<'_>, awaited: bool) -> Poll<()> {
        self.shared.pushed.register(cx.waker());
        loop {
            if let Some(in_flight) = &mut self.in_flight {
                let polled = contained(|| in_flight.commit.as_mut().poll(cx));
                let result = match polled {
                    Ok(Poll::Pending) => return Poll::Pending,
                    Ok(Poll::Ready(result)) => result,
                    Err(panic) => Err(CheckpointError::backend("write", format!("it panicked: {panic}"))),
                };
                let after = in_flight.after;
                discard(self.in_flight.take());
                self.shared.complete(result, after);
            }
            if self.poll_parents(cx).is_pending() {
                return Poll::Pending;
            }
            match self.shared.next_batch() {
                Some((batch, after)) => {
                    let batch = batch.awaited(awaited);
                    let store = Arc::clone(self.shared.store());
                    let commit = Box::pin(async move { store.commit(batch).await });
                    self.in_flight = Some(InFlight { commit, after });
                }
                None => return Poll::Ready(()),
            }
        }
    }

    /// Ready when the queued writes of a subgraph run may be written.
    fn poll_parents(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(parents) = &mut self.parents else { return Poll::Ready(()) };
        if self.shared.is_idle() {
            return Poll::Ready(());
        }
        let Poll::Ready(durable) = parents.as_mut().poll(cx) else { return Poll::Pending };
        self.parents = None;
        if let Err(error) = durable {
            self.shared.fail(error);
        }
        Poll::Ready(())
    }

    /// Writes as much as possible without waiting. Waits only while the queue is too long.
    pub(crate) async fn advance(this: &Mutex<Self>) -> Result<(), Arc<CheckpointError>> {
        poll_fn(|cx| {
            let mut journal = lock(this);
            let polled = journal.poll(cx);
            if journal.shared.queue_len() < AHEAD { Poll::Ready(()) } else { polled }
        })
        .await;
        lock(this).shared.failure()
    }

    /// Waits until everything that was pushed is durable.
    pub(crate) async fn flush(this: &Mutex<Self>) -> Result<(), Arc<CheckpointError>> {
        lock(this).begun = true;
        lock(this).shared.release();
        Self::wait(this).await;
        lock(this).shared.failure()
    }

    /// Makes the first writes durable. If writes are deferred until the run's end, only raises the epoch.
    pub(crate) async fn claim(this: &Mutex<Self>) -> Result<(), Arc<CheckpointError>> {
        lock(this).begun = true;
        lock(this).shared.claim();
        Self::wait(this).await;
        lock(this).shared.failure()
    }

    /// Polls the journal while `future` runs.
    pub(crate) async fn beside<F: Future>(this: &Mutex<Self>, future: F) -> F::Output {
        let mut future = pin!(future);
        poll_fn(|cx| {
            let _ = lock(this).poll(cx);
            match future.as_mut().poll(cx) {
                Poll::Pending => {
                    // Writes that the future pushed during this poll.
                    let _ = lock(this).poll(cx);
                    Poll::Pending
                }
                ready => ready,
            }
        })
        .await
    }
}

impl Drop for Journal {
    /// Hands the queued writes of a dropped run to the store. A store accepts a commit on its first poll.
    fn drop(&mut self) {
        if !self.begun || self.shared.has_no_writes() {
            return;
        }
        let _ = contained(|| {
            let mut cx = Context::from_waker(Waker::noop());
            if self.poll(&mut cx).is_ready() {
                return;
            }
            // The batch in flight will not be polled again. The rest of the queue is handed over right after it.
            let (Some(in_flight), Some((batch, _))) = (self.in_flight.take(), self.shared.next_batch())
            else {
                return;
            };
            let mut commit = self.shared.store().commit(batch);
            let _ = commit.as_mut().poll(&mut cx);
            drop(in_flight);
        });
    }
}

/// Locks a journal. A panic of an earlier owner leaves it usable.
fn lock(journal: &Mutex<Journal>) -> MutexGuard<'_, Journal> {
    journal.lock().unwrap_or_else(PoisonError::into_inner)
}
