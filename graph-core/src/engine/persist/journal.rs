// Longer than most: what waits, who writes it and who waits for it share one lock, and are only understood together.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use futures_util::task::AtomicWaker;
use tokio::sync::Notify;

use crate::checkpoint::{BatchWrite, CheckpointError, CheckpointId, Checkpointer, Fence, WriteBatch};

use super::held::Held;
use super::writer::lock;
use crate::engine::Durability;

/// A run's writes on their way to the store: in order, and one batch at a time.
///
/// Whatever is pushed while a batch is under way makes the next one. Everybody who shares the journal may push; only its
/// owner, the driver, polls it.
pub(crate) struct Journal {
    pub(crate) shared: Arc<Shared>,
    in_flight: Option<InFlight>,
    /// The thread, or the call, is this run's own. Until then nothing of it is to be written: it may still be refused.
    begun: bool,
    /// Of a run within another, until that is durable which it hangs on: nothing of it is written before.
    ///
    /// Otherwise a crash could leave the beginning of a call behind that nobody has planned, in the way of the one before it,
    /// which is to be gone on with.
    around: Option<Durable<'static>>,
}

/// Waits until writes are durable.
pub(super) type Durable<'a> = Pin<Box<dyn Future<Output = Result<(), Arc<CheckpointError>>> + Send + 'a>>;

struct InFlight {
    commit: Pin<Box<dyn Future<Output = Result<(), CheckpointError>> + Send>>,
    /// Where the thread stands when it has succeeded, and how many writes are durable then.
    then: (Fence, u64),
}

/// Where writes of a run are handed in, by its driver and by its tasks.
pub(crate) struct Shared {
    store: Arc<dyn Checkpointer>,
    thread: Arc<str>,
    namespace: Arc<str>,
    origin: Arc<str>,
    pub(super) durability: Durability,
    /// The journal of the run around this one.
    pub(super) outer: Option<Arc<Shared>>,
    inner: Mutex<Inner>,
    /// Wakes the driver: there is something to write.
    pushed: AtomicWaker,
    /// Wakes whoever waits for its writes.
    written: Notify,
}

struct Inner {
    queue: VecDeque<BatchWrite>,
    held: Held,
    /// A batch is to be written even if nothing waits.
    claims: bool,
    /// Where the thread stands once everything under way is written.
    fence: Fence,
    durable_head: Option<CheckpointId>,
    /// The checkpoint that has planned the tasks which are running.
    at: Option<CheckpointId>,
    /// The epoch that this run raises the thread to.
    epoch: u64,
    /// How many writes have been queued, and how many of them are durable.
    queued: u64,
    durable: u64,
    failed: Option<Arc<CheckpointError>>,
}

impl Inner {
    /// Nothing is written yet, at `fence`, by a run that raises the thread to `epoch`.
    fn at(fence: Fence, epoch: u64) -> Self {
        Self {
            queue: VecDeque::new(),
            held: Held::default(),
            claims: false,
            fence,
            durable_head: fence.head,
            at: fence.head,
            epoch,
            queued: 0,
            durable: 0,
            failed: None,
        }
    }
}

/// So many writes may wait for the store before a run waits for it too.
const AHEAD: usize = 256;

impl Journal {
    /// A journal for a run that found the thread at `fence`.
    pub(crate) fn new(
        store: Arc<dyn Checkpointer>,
        thread: Arc<str>,
        namespace: Arc<str>,
        origin: Arc<str>,
        fence: Fence,
        durability: Durability,
    ) -> Self {
        let inner = Inner::at(fence, fence.epoch.saturating_add(1));
        let shared = Shared {
            store,
            thread,
            namespace,
            origin,
            durability,
            outer: None,
            inner: Mutex::new(inner),
            pushed: AtomicWaker::new(),
            written: Notify::new(),
        };
        Self::of(shared, None)
    }

    /// A journal for a run within another: of the same epoch, in a namespace of its own, whose head is `head`.
    pub(crate) fn within(
        outer: &Arc<Shared>,
        namespace: Arc<str>,
        head: Option<CheckpointId>,
        durability: Durability,
    ) -> Self {
        let epoch = outer.epoch();
        let inner = Inner::at(Fence { epoch, head }, epoch);
        let shared = Shared {
            store: Arc::clone(&outer.store),
            thread: Arc::clone(&outer.thread),
            namespace,
            origin: Arc::clone(&outer.origin),
            durability,
            outer: Some(Arc::clone(outer)),
            inner: Mutex::new(inner),
            pushed: AtomicWaker::new(),
            written: Notify::new(),
        };
        let outer = Arc::clone(outer);
        let around: Durable<'static> = Box::pin(async move { outer.durable_here_and_around().await });
        Self::of(shared, Some(around))
    }

    fn of(shared: Shared, around: Option<Durable<'static>>) -> Self {
        Self { shared: Arc::new(shared), in_flight: None, begun: false, around }
    }

    /// What it has been given may be written from now on, also by whoever drops it.
    pub(super) fn begins(this: &Mutex<Self>) {
        lock(this).begun = true;
    }

    /// Writes as far as can be done now; ready when nothing is left to write.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.shared.pushed.register(cx.waker());
        loop {
            if let Some(in_flight) = &mut self.in_flight {
                let Poll::Ready(result) = in_flight.commit.as_mut().poll(cx) else { return Poll::Pending };
                let then = in_flight.then;
                self.in_flight = None;
                self.shared.settle(result, then);
            }
            if self.poll_around(cx).is_pending() {
                return Poll::Pending;
            }
            match self.shared.next_batch() {
                Some((batch, then)) => {
                    let store = Arc::clone(&self.shared.store);
                    let commit = Box::pin(async move { store.commit(batch).await });
                    self.in_flight = Some(InFlight { commit, then });
                }
                None => return Poll::Ready(()),
            }
        }
    }

    /// Ready when what waits to be written may be.
    fn poll_around(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(around) = &mut self.around else { return Poll::Ready(()) };
        if self.shared.is_idle() {
            return Poll::Ready(());
        }
        let Poll::Ready(durable) = around.as_mut().poll(cx) else { return Poll::Pending };
        self.around = None;
        if let Err(error) = durable {
            self.shared.fail(error);
        }
        Poll::Ready(())
    }

    /// Writes as far as can be done without waiting; waits only when too much is waiting.
    pub(crate) async fn advance(this: &Mutex<Self>) -> Result<(), Arc<CheckpointError>> {
        poll_fn(|cx| {
            let mut journal = lock(this);
            let polled = journal.poll(cx);
            if journal.shared.lock().queue.len() < AHEAD { Poll::Ready(()) } else { polled }
        })
        .await;
        lock(this).shared.failure()
    }

    /// Waits until everything that has been pushed is durable.
    pub(crate) async fn flush(this: &Mutex<Self>) -> Result<(), Arc<CheckpointError>> {
        lock(this).begun = true;
        lock(this).shared.release();
        poll_fn(|cx| lock(this).poll(cx)).await;
        lock(this).shared.failure()
    }

    /// Makes the first writes durable, or raises the epoch and nothing else where they are held back.
    pub(crate) async fn claim(this: &Mutex<Self>) -> Result<(), Arc<CheckpointError>> {
        lock(this).begun = true;
        lock(this).shared.lock().claims = true;
        poll_fn(|cx| lock(this).poll(cx)).await;
        lock(this).shared.failure()
    }

    /// Writes while `future` runs.
    pub(crate) async fn beside<F: Future>(this: &Mutex<Self>, future: F) -> F::Output {
        let mut future = pin!(future);
        poll_fn(|cx| {
            let _ = lock(this).poll(cx);
            match future.as_mut().poll(cx) {
                Poll::Pending => {
                    // What it has pushed while it was polled.
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
    /// A run that is dropped hands over what its tasks have finished; the store takes it as it is first polled.
    fn drop(&mut self) {
        if !self.begun || self.shared.lock().queue.is_empty() {
            return;
        }
        let _ = catch_unwind(AssertUnwindSafe(|| {
            let mut cx = Context::from_waker(Waker::noop());
            if self.poll(&mut cx).is_ready() {
                return;
            }
            // One batch is under way and will not be asked for any more: the rest follows it at once.
            let (Some(in_flight), Some((batch, _))) = (self.in_flight.take(), self.shared.next_batch())
            else {
                return;
            };
            let mut commit = self.shared.store.commit(batch);
            let _ = commit.as_mut().poll(&mut cx);
            drop(in_flight);
        }));
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a write, behind those before it.
    pub(crate) fn push(&self, write: BatchWrite) {
        {
            let mut inner = self.lock();
            let write = match self.durability {
                Durability::Exit => inner.held.take_in(write),
                Durability::Sync | Durability::Async => Some(write),
            };
            let Some(write) = write else { return };
            inner.queued += 1;
            inner.queue.push_back(write);
        }
        self.pushed.wake();
    }

    /// Queues a write, also where others are held back.
    pub(super) fn push_now(&self, write: BatchWrite) {
        self.release();
        {
            let mut inner = self.lock();
            inner.queued += 1;
            inner.queue.push_back(write);
        }
        self.pushed.wake();
    }

    /// Queues what durability `exit` has held back.
    pub(crate) fn release(&self) {
        {
            let mut inner = self.lock();
            let Some(write) = inner.held.release() else { return };
            inner.queued += 1;
            inner.queue.push_back(write);
        }
        self.pushed.wake();
    }

    /// The store.
    pub(super) fn store(&self) -> &Arc<dyn Checkpointer> {
        &self.store
    }

    /// The namespace that it writes in.
    pub(super) fn namespace(&self) -> &Arc<str> {
        &self.namespace
    }

    /// The namespace of the run around this one.
    pub(super) fn around(&self) -> Option<&Arc<str>> {
        self.outer.as_ref().map(|outer| &outer.namespace)
    }

    /// The checkpoint that has planned the tasks which are running.
    pub(super) fn at(&self) -> Option<CheckpointId> {
        self.lock().at
    }

    /// The thread's name.
    pub(super) fn thread(&self) -> &Arc<str> {
        &self.thread
    }

    /// The epoch in which the run writes.
    pub(super) fn epoch(&self) -> u64 {
        self.lock().epoch
    }

    /// Waits until everything that has been pushed so far is durable; somebody else polls the journal meanwhile.
    pub(crate) async fn durable(&self) -> Result<(), Arc<CheckpointError>> {
        self.release();
        let wanted = self.lock().queued;
        loop {
            // Asked for first, so that what is written meanwhile is not missed.
            let written = self.written.notified();
            {
                let inner = self.lock();
                if let Some(failed) = &inner.failed {
                    return Err(Arc::clone(failed));
                }
                if inner.durable >= wanted {
                    return Ok(());
                }
            }
            self.pushed.wake();
            written.await;
        }
    }

    /// The tasks that run next have been planned by this checkpoint.
    pub(super) fn stands_at(&self, checkpoint: CheckpointId) {
        self.lock().at = Some(checkpoint);
    }

    /// Writes nothing any more: what was to be written cannot be, and what follows would build on it.
    pub(super) fn stop(&self, why: CheckpointError) {
        self.fail(Arc::new(why));
    }

    pub(super) fn fail(&self, why: Arc<CheckpointError>) {
        {
            let mut inner = self.lock();
            inner.queue.clear();
            inner.failed.get_or_insert(why);
        }
        self.written.notify_waiters();
    }

    /// Why nothing is written any more.
    pub(crate) fn failure(&self) -> Result<(), Arc<CheckpointError>> {
        match &self.lock().failed {
            Some(failed) => Err(Arc::clone(failed)),
            None => Ok(()),
        }
    }

    /// The newest checkpoint that is durable.
    pub(crate) fn durable_head(&self) -> Option<CheckpointId> {
        self.lock().durable_head
    }

    /// Whether nothing waits to be written.
    fn is_idle(&self) -> bool {
        let inner = self.lock();
        inner.queue.is_empty() && !inner.claims
    }

    /// Everything that waits, as a batch; and where the thread stands afterwards.
    fn next_batch(&self) -> Option<(WriteBatch, (Fence, u64))> {
        let mut inner = self.lock();
        let claims = std::mem::take(&mut inner.claims);
        if (inner.queue.is_empty() && !claims) || inner.failed.is_some() {
            return None;
        }
        let writes: Vec<BatchWrite> = inner.queue.drain(..).collect();
        let head = writes.iter().rev().find_map(|write| match write {
            BatchWrite::Checkpoint(new) => Some(new.checkpoint.id),
            BatchWrite::Records { .. } => None,
        });
        let (fence, epoch) = (inner.fence, inner.epoch);
        let then = Fence { epoch, head: head.or(fence.head) };
        let batch = WriteBatch {
            thread: Arc::clone(&self.thread),
            namespace: Arc::clone(&self.namespace),
            origin: Arc::clone(&self.origin),
            fence,
            epoch,
            writes,
        };
        // What follows a batch under way builds on it; should it fail, nothing follows.
        let durable = inner.queued;
        inner.fence = then;
        Some((batch, (then, durable)))
    }

    fn settle(&self, result: Result<(), CheckpointError>, (then, durable): (Fence, u64)) {
        {
            let mut inner = self.lock();
            match result {
                Ok(()) => (inner.durable_head, inner.durable) = (then.head, durable),
                Err(error) => {
                    inner.failed = Some(Arc::new(error));
                    inner.queue.clear();
                }
            }
        }
        self.written.notify_waiters();
    }
}
