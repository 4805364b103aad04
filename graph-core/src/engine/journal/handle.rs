use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::task::AtomicWaker;
use tokio::sync::Notify;

use crate::checkpoint::{
    BatchWrite, CheckpointError, CheckpointId, Checkpointer, Fence, StoredStatus, WriteBatch,
};
use crate::options::Durability;

use super::parent_task::ThreadTask;
use super::write_queue::{AfterBatch, WriteQueue};

/// The entrance of the journal, where the driver and its tasks push writes.
pub(crate) struct JournalHandle {
    store: Arc<dyn Checkpointer>,
    thread: Arc<str>,
    namespace: Arc<str>,
    origin: Arc<str>,
    pub(crate) durability: Durability,
    /// The journal of the parent run.
    pub(crate) parent: Option<Arc<JournalHandle>>,
    /// The index of the parent task; 0 without one.
    pub(crate) parent_task: u32,
    state: Mutex<HandleState>,
    /// Wakes the driver after a push.
    pub(super) pushed: AtomicWaker,
    /// Wakes the tasks that wait for their writes.
    written: Notify,
}

struct HandleState {
    writes: WriteQueue,
    /// The checkpoint at which the running tasks are planned.
    at: Option<CheckpointId>,
    /// The checkpoint that first planned them, if an update from outside has kept them.
    planned_at: Option<CheckpointId>,
}

impl JournalHandle {
    /// Creates the entrance of the journal of a run that found the thread at `fence`.
    pub(super) fn new(
        store: Arc<dyn Checkpointer>,
        thread: Arc<str>,
        namespace: Arc<str>,
        origin: Arc<str>,
        fence: Fence,
        durability: Durability,
    ) -> Self {
        Self {
            store,
            thread,
            namespace,
            origin,
            durability,
            parent: None,
            parent_task: 0,
            state: HandleState::new(fence, fence.epoch.saturating_add(1)),
            pushed: AtomicWaker::new(),
            written: Notify::new(),
        }
    }

    /// Creates the entrance of the journal of a subgraph run.
    pub(super) fn of_call(
        parent: &Arc<JournalHandle>,
        parent_task: u32,
        namespace: Arc<str>,
        head: Option<CheckpointId>,
        durability: Durability,
    ) -> Self {
        let epoch = parent.epoch();
        Self {
            store: Arc::clone(&parent.store),
            thread: Arc::clone(&parent.thread),
            namespace,
            origin: Arc::clone(&parent.origin),
            durability,
            parent: Some(Arc::clone(parent)),
            parent_task,
            state: HandleState::new(Fence::new(epoch, head), epoch),
            pushed: AtomicWaker::new(),
            written: Notify::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, HandleState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a write after those before it.
    pub(crate) fn push(&self, write: BatchWrite) {
        let queued = self.lock().writes.push(write, self.durability);
        if queued {
            self.pushed.wake();
        }
    }

    /// Queues a write, and before it everything that durability `Exit` has deferred.
    pub(crate) fn push_now(&self, write: BatchWrite) {
        self.release();
        self.lock().writes.add(write);
        self.pushed.wake();
    }

    /// Sets the status of the thread with which the run begins. The first batch writes it, whatever the durability.
    pub(crate) fn begin_with_status(&self, status: StoredStatus) {
        self.lock().writes.set_status_now(status.changed_at(now()));
    }

    /// Sets the status of the thread after the writes that were pushed so far.
    ///
    /// Durability `Exit` defers it with them. Only a running thread is marked at once, so that no reader takes it for
    /// idle.
    pub(crate) fn set_status(&self, status: StoredStatus) {
        self.lock().writes.set_status(status.changed_at(now()), self.durability);
    }

    /// Queues the writes that durability `Exit` has deferred.
    pub(crate) fn release(&self) {
        let queued = self.lock().writes.release();
        if queued {
            self.pushed.wake();
        }
    }

    /// Does not merge the last deferred checkpoint with those after it.
    pub(crate) fn keep(&self) {
        self.lock().writes.deferred.keep();
    }

    /// Returns the deferred checkpoint that the next one replaces, with its parent.
    pub(crate) fn merged_with_next(&self) -> Option<(CheckpointId, Option<CheckpointId>)> {
        match self.durability {
            Durability::Exit => self.lock().writes.deferred.merged_with_next(),
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
        self.parent.as_ref().map(|parent| &parent.namespace)
    }

    /// Returns the namespaces of this run and its parent runs, outermost first.
    pub(crate) fn path(&self) -> Vec<Arc<str>> {
        let mut path = self.parent.as_ref().map_or_else(Vec::new, |parent| parent.path());
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

    /// Returns the task of the thread in which this run runs; `None` for the run of the thread.
    pub(crate) fn thread_task(&self) -> Option<ThreadTask> {
        let parent = self.parent.as_ref()?;
        parent.thread_task().or_else(|| {
            let task = usize::try_from(self.parent_task).unwrap_or(usize::MAX);
            Some(ThreadTask { at: parent.at()?, task })
        })
    }

    /// Returns the thread's name.
    pub(crate) fn thread(&self) -> &Arc<str> {
        &self.thread
    }

    /// Returns the epoch in which the run writes.
    pub(crate) fn epoch(&self) -> u64 {
        self.lock().writes.epoch
    }

    /// Waits until everything that was pushed so far is durable, deferred writes included. The driver polls the journal
    /// meanwhile.
    pub(crate) async fn durable(&self) -> Result<(), Arc<CheckpointError>> {
        self.release();
        let wanted = self.lock().writes.queued;
        loop {
            // Created before the check, so that no notification is missed.
            let written = self.written.notified();
            {
                let state = self.lock();
                state.writes.failure()?;
                if state.writes.durable >= wanted {
                    return Ok(());
                }
            }
            self.pushed.wake();
            written.await;
        }
    }

    /// Sets the checkpoint that planned the tasks which run next.
    pub(crate) fn reaches(&self, checkpoint: CheckpointId) {
        let mut state = self.lock();
        (state.at, state.planned_at) = (Some(checkpoint), None);
    }

    /// Sets the checkpoint that first planned the tasks which run next.
    pub(crate) fn keeps_tasks_of(&self, checkpoint: CheckpointId) {
        self.lock().planned_at = Some(checkpoint);
    }

    /// Stops all writing: a write was impossible, and later ones would build on it.
    pub(crate) fn stop(&self, why: CheckpointError) {
        self.fail(Arc::new(why));
    }

    /// Stops all writing, for the first of several reasons.
    pub(crate) fn fail(&self, why: Arc<CheckpointError>) {
        self.lock().writes.fail(why);
        self.written.notify_waiters();
    }

    /// Returns the error that has stopped all writing, if there is one.
    pub(crate) fn failure(&self) -> Result<(), Arc<CheckpointError>> {
        self.lock().writes.failure()
    }

    /// Returns the newest durable checkpoint.
    pub(crate) fn durable_head(&self) -> Option<CheckpointId> {
        self.lock().writes.durable_head
    }

    /// Returns `true` if neither a write nor a status waits to be written.
    pub(super) fn has_no_writes(&self) -> bool {
        self.lock().writes.has_no_writes()
    }

    /// Returns `true` if nothing waits to be written.
    pub(super) fn is_idle(&self) -> bool {
        self.lock().writes.is_idle()
    }

    /// Returns the number of writes that wait for the next batch.
    pub(super) fn queue_len(&self) -> usize {
        self.lock().writes.len()
    }

    /// Lets the next batch raise the epoch, even without a write.
    pub(super) fn claim(&self) {
        self.lock().writes.claims = true;
    }

    /// Takes the queue as a batch.
    pub(super) fn next_batch(&self) -> Option<(WriteBatch, AfterBatch)> {
        self.lock().writes.next_batch(&self.thread, &self.namespace, &self.origin)
    }

    /// Records the result of a batch.
    pub(super) fn complete(&self, result: Result<(), CheckpointError>, after: AfterBatch) {
        self.lock().writes.complete(result, after);
        self.written.notify_waiters();
    }
}

impl HandleState {
    fn new(fence: Fence, epoch: u64) -> Mutex<Self> {
        Mutex::new(Self { writes: WriteQueue::new(fence, epoch), at: fence.head, planned_at: None })
    }
}

/// Returns the time to the millisecond, as stores keep it.
fn now() -> SystemTime {
    let now = SystemTime::now();
    let below = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.subsec_nanos() % 1_000_000);
    now.checked_sub(Duration::from_nanos(below.into())).unwrap_or(now)
}
