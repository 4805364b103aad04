// This file is longer than most: queue, writer and waiters share one lock and are best read together.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::task::AtomicWaker;
use tokio::sync::Notify;

use crate::checkpoint::{
    BatchWrite, CheckpointError, CheckpointId, Checkpointer, Fence, StatusKind, StoredStatus, WriteBatch,
};
use crate::contain::{contained, discard};
use crate::options::Durability;

use super::deferred_writes::DeferredWrites;

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
    /// The thread's fence after the commit, and the number of durable writes then.
    then: (Fence, u64),
}

/// The entrance of the journal, where the driver and its tasks push writes.
pub(crate) struct JournalHandle {
    store: Arc<dyn Checkpointer>,
    thread: Arc<str>,
    namespace: Arc<str>,
    origin: Arc<str>,
    pub(crate) durability: Durability,
    /// The journal of the parent run.
    pub(crate) outer: Option<Arc<JournalHandle>>,
    /// The index of the parent task; 0 without one.
    pub(crate) parent_task: u32,
    inner: Mutex<Inner>,
    /// Wakes the driver after a push.
    pushed: AtomicWaker,
    /// Wakes the tasks that wait for their writes.
    written: Notify,
}

struct Inner {
    queue: VecDeque<BatchWrite>,
    deferred: DeferredWrites,
    /// The status of the thread that the next batch writes.
    status: Option<StoredStatus>,
    /// `true` if a batch is written even if the queue is empty, to raise the epoch.
    claims: bool,
    /// The thread's fence after all batches in flight are written.
    fence: Fence,
    durable_head: Option<CheckpointId>,
    /// The checkpoint at which the running tasks are planned.
    at: Option<CheckpointId>,
    /// The checkpoint that first planned them, if an update from outside has kept them.
    planned_at: Option<CheckpointId>,
    /// The epoch to which this run raises the thread.
    epoch: u64,
    /// The number of writes that were queued so far. `durable` counts the durable ones among them.
    queued: u64,
    durable: u64,
    failed: Option<Arc<CheckpointError>>,
}

impl Inner {
    /// Creates an empty queue for a run that found the thread at `fence` and raises it to `epoch`.
    fn at(fence: Fence, epoch: u64) -> Self {
        Self {
            queue: VecDeque::new(),
            deferred: DeferredWrites::default(),
            status: None,
            claims: false,
            fence,
            durable_head: fence.head,
            at: fence.head,
            planned_at: None,
            epoch,
            queued: 0,
            durable: 0,
            failed: None,
        }
    }
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
        let inner = Inner::at(fence, fence.epoch.saturating_add(1));
        let shared = JournalHandle {
            store,
            thread,
            namespace,
            origin,
            durability,
            outer: None,
            parent_task: 0,
            inner: Mutex::new(inner),
            pushed: AtomicWaker::new(),
            written: Notify::new(),
        };
        Self::of(shared, None)
    }

    /// Creates the journal of a subgraph run in a task of the parent run: it has the parent run's epoch, and its own namespace with the head
    /// `head`.
    pub(crate) fn within(
        outer: &Arc<JournalHandle>,
        task: u32,
        namespace: Arc<str>,
        head: Option<CheckpointId>,
        durability: Durability,
    ) -> Self {
        let epoch = outer.epoch();
        let inner = Inner::at(Fence::new(epoch, head), epoch);
        let shared = JournalHandle {
            store: Arc::clone(&outer.store),
            thread: Arc::clone(&outer.thread),
            namespace,
            origin: Arc::clone(&outer.origin),
            durability,
            outer: Some(Arc::clone(outer)),
            parent_task: task,
            inner: Mutex::new(inner),
            pushed: AtomicWaker::new(),
            written: Notify::new(),
        };
        let outer = Arc::clone(outer);
        let parents: Durable<'static> = Box::pin(async move { outer.durable_here_and_around().await });
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
                let then = in_flight.then;
                discard(self.in_flight.take());
                self.shared.complete(result, then);
            }
            if self.poll_parents(cx).is_pending() {
                return Poll::Pending;
            }
            match self.shared.next_batch() {
                Some((batch, then)) => {
                    let batch = batch.awaited(awaited);
                    let store = Arc::clone(&self.shared.store);
                    let commit = Box::pin(async move { store.commit(batch).await });
                    self.in_flight = Some(InFlight { commit, then });
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
            if journal.shared.lock().queue.len() < AHEAD { Poll::Ready(()) } else { polled }
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
        lock(this).shared.lock().claims = true;
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
            let mut commit = self.shared.store.commit(batch);
            let _ = commit.as_mut().poll(&mut cx);
            drop(in_flight);
        });
    }
}

impl JournalHandle {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a write after those before it.
    pub(crate) fn push(&self, write: BatchWrite) {
        {
            let mut inner = self.lock();
            let write = match self.durability {
                Durability::Exit => inner.deferred.defer(write),
                Durability::Sync | Durability::Async => Some(write),
            };
            let Some(write) = write else { return };
            inner.queued += 1;
            inner.queue.push_back(write);
        }
        self.pushed.wake();
    }

    /// Queues a write, and before it everything that durability `Exit` has deferred.
    pub(crate) fn push_now(&self, write: BatchWrite) {
        self.release();
        {
            let mut inner = self.lock();
            inner.queued += 1;
            inner.queue.push_back(write);
        }
        self.pushed.wake();
    }

    /// Sets the status of the thread with which the run begins. The first batch writes it, whatever the durability.
    pub(crate) fn begin_with_status(&self, status: StoredStatus) {
        self.lock().status = Some(status.changed_at(now()));
    }

    /// Sets the status of the thread after the writes that were pushed so far.
    ///
    /// Durability `Exit` defers it with them. Only a running thread is marked at once, so that no reader takes it for
    /// idle.
    pub(crate) fn set_status(&self, status: StoredStatus) {
        let status = status.changed_at(now());
        let mut inner = self.lock();
        if self.durability == Durability::Exit && status.kind != StatusKind::Running {
            inner.deferred.status = Some(status);
        } else {
            inner.deferred.status = None;
            inner.status = Some(status);
        }
    }

    /// Queues the writes that durability `Exit` has deferred.
    pub(crate) fn release(&self) {
        {
            let mut inner = self.lock();
            inner.status = inner.deferred.status.take().or(inner.status);
            let writes = inner.deferred.release();
            if writes.is_empty() {
                return;
            }
            for write in writes {
                inner.queued += 1;
                inner.queue.push_back(write);
            }
        }
        self.pushed.wake();
    }

    /// Does not merge the last deferred checkpoint with those after it.
    pub(crate) fn keep(&self) {
        self.lock().deferred.keep();
    }

    /// Returns the deferred checkpoint that the next one replaces, with its parent.
    pub(crate) fn merged_with_next(&self) -> Option<(CheckpointId, Option<CheckpointId>)> {
        match self.durability {
            Durability::Exit => self.lock().deferred.merged_with_next(),
            Durability::Sync | Durability::Async => None,
        }
    }

    /// Returns the store.
    pub(crate) fn store(&self) -> &Arc<dyn Checkpointer> {
        &self.store
    }

    /// Returns the namespace in which the run is stored.
    pub(crate) fn namespace(&self) -> &Arc<str> {
        &self.namespace
    }

    /// Returns the parent run's namespace.
    pub(crate) fn parent_namespace(&self) -> Option<&Arc<str>> {
        self.outer.as_ref().map(|outer| &outer.namespace)
    }

    /// Returns the namespaces of this run and its parent runs, outermost first.
    pub(crate) fn path(&self) -> Vec<Arc<str>> {
        let mut path = self.outer.as_ref().map_or_else(Vec::new, |outer| outer.path());
        path.push(Arc::clone(&self.namespace));
        path
    }

    /// Returns the checkpoint that first planned the running tasks, as the run was told.
    pub(crate) fn kept_from(&self) -> Option<CheckpointId> {
        self.lock().planned_at
    }

    /// Returns the checkpoint at which the running tasks are planned.
    pub(crate) fn at(&self) -> Option<CheckpointId> {
        self.lock().at
    }

    /// Returns the thread's name.
    pub(crate) fn thread(&self) -> &Arc<str> {
        &self.thread
    }

    /// Returns the epoch in which the run writes.
    pub(crate) fn epoch(&self) -> u64 {
        self.lock().epoch
    }

    /// Waits until everything that was pushed so far is durable, deferred writes included. The driver polls the journal
    /// meanwhile.
    pub(crate) async fn durable(&self) -> Result<(), Arc<CheckpointError>> {
        self.release();
        let wanted = self.lock().queued;
        loop {
            // Created before the check, so that no notification is missed.
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

    /// Sets the checkpoint that planned the tasks which run next.
    pub(crate) fn reaches(&self, checkpoint: CheckpointId) {
        let mut inner = self.lock();
        (inner.at, inner.planned_at) = (Some(checkpoint), None);
    }

    /// Sets the checkpoint that first planned the tasks which run next.
    pub(crate) fn keeps_tasks_of(&self, checkpoint: CheckpointId) {
        self.lock().planned_at = Some(checkpoint);
    }

    /// Stops all writing: a write was impossible, and later ones would build on it.
    pub(crate) fn stop(&self, why: CheckpointError) {
        self.fail(Arc::new(why));
    }

    pub(crate) fn fail(&self, why: Arc<CheckpointError>) {
        {
            let mut inner = self.lock();
            inner.queue.clear();
            inner.status = None;
            inner.failed.get_or_insert(why);
        }
        self.written.notify_waiters();
    }

    /// Returns the error that has stopped all writing, if there is one.
    pub(crate) fn failure(&self) -> Result<(), Arc<CheckpointError>> {
        match &self.lock().failed {
            Some(failed) => Err(Arc::clone(failed)),
            None => Ok(()),
        }
    }

    /// Returns the newest durable checkpoint.
    pub(crate) fn durable_head(&self) -> Option<CheckpointId> {
        self.lock().durable_head
    }

    /// Returns `true` if neither a write nor a status waits to be written.
    fn has_no_writes(&self) -> bool {
        let inner = self.lock();
        inner.queue.is_empty() && inner.status.is_none()
    }

    /// Returns `true` if nothing waits to be written.
    fn is_idle(&self) -> bool {
        let inner = self.lock();
        inner.queue.is_empty() && !inner.claims
    }

    /// Takes the queue as a batch. Also returns the fence and the number of durable writes after its commit.
    fn next_batch(&self) -> Option<(WriteBatch, (Fence, u64))> {
        let mut inner = self.lock();
        let claims = std::mem::take(&mut inner.claims);
        let is_idle = inner.queue.is_empty() && inner.status.is_none() && !claims;
        if is_idle || inner.failed.is_some() {
            return None;
        }
        let writes: Vec<BatchWrite> = inner.queue.drain(..).collect();
        let head = writes.iter().rev().find_map(|write| match write {
            BatchWrite::Checkpoint(new) => Some(Some(new.checkpoint.id)),
            BatchWrite::RollBack { namespace, to, .. } => (**namespace == *self.namespace).then_some(*to),
            BatchWrite::Records { .. } => None,
        });
        let (fence, epoch) = (inner.fence, inner.epoch);
        let then = Fence::new(epoch, head.unwrap_or(fence.head));
        let batch = WriteBatch::new(Arc::clone(&self.thread), Arc::clone(&self.origin), fence)
            .namespace(Arc::clone(&self.namespace))
            .epoch(epoch)
            .status(inner.status.take())
            .writes(writes);
        // The next batch builds on this one. If this one fails, no other follows.
        let durable = inner.queued;
        inner.fence = then;
        Some((batch, (then, durable)))
    }

    fn complete(&self, result: Result<(), CheckpointError>, (then, durable): (Fence, u64)) {
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

/// Returns the time to the millisecond, as stores keep it.
fn now() -> SystemTime {
    let now = SystemTime::now();
    let below = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.subsec_nanos() % 1_000_000);
    now.checked_sub(Duration::from_nanos(below.into())).unwrap_or(now)
}

/// Locks a journal. A panic of an earlier owner leaves it usable.
fn lock(journal: &Mutex<Journal>) -> MutexGuard<'_, Journal> {
    journal.lock().unwrap_or_else(PoisonError::into_inner)
}
