//! The tasks of a superstep on the workers of the runtime.
//!
//! As many *pullers* as there are workers are spawned. They take tasks from one queue and poll each once in place. So a task
//! that is ready at once costs no spawn, and CPU-bound tasks spread over the workers. A task that is pending after its
//! first poll is spawned on its own; once it has ended, it is a puller as well.

use std::future::{Future, poll_fn};
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use futures_util::FutureExt as _;
use futures_util::task::AtomicWaker;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::AbortHandle;

use crate::contain::discard;
use crate::engine::at::At;
use crate::engine::context::ErasedContexts;
use crate::engine::graph::Compiled;
use crate::engine::spans::RunSpan;
use crate::engine::task::{Failed, Finished, Keep, Unfinished, Work};
use crate::erased::{ErasedState, TaskWrites};
use crate::plan::Task;
use crate::stream::Events;

/// The values that all tasks of a superstep read.
pub(crate) struct TaskInputs {
    pub(crate) graph: Arc<Compiled>,
    pub(crate) state: Arc<dyn ErasedState>,
    /// The contexts of the tasks, in the order of the queue.
    pub(crate) contexts: Box<dyn ErasedContexts>,
    pub(crate) events: Option<Events>,
    pub(crate) keep: Keep,
}

type TaskOutcome = Result<Finished, Box<Unfinished>>;

/// A task that has begun, with its outcome if it has ended.
pub(crate) struct CollectedTask {
    pub(crate) at: At,
    pub(crate) outcome: Option<TaskOutcome>,
}

/// A task in the queue.
struct QueuedTask {
    at: At,
    task: Option<Task>,
    progress: Mutex<TaskStage>,
}

/// The progress of a task.
enum TaskStage {
    /// It has not begun. Holds the memory for its writes.
    Queued(TaskWrites),
    Started,
    Ended(TaskOutcome),
    /// Its outcome was collected.
    Collected,
}

/// A task that was pending after its first poll.
type PendingTask = Pin<Box<dyn Future<Output = Arc<Pool>> + Send>>;

/// The data that the pullers share.
struct Pool {
    inputs: TaskInputs,
    queue: Vec<QueuedTask>,
    /// The index of the next task in the queue.
    next: AtomicUsize,
    /// The maximum number of pullers, and so of tasks that have begun and not ended.
    limit: usize,
    spans: RunSpan,
    /// `true` if each outcome is collected as it arrives. Otherwise only failures are, and the others at the end.
    is_eager: bool,
    state: Mutex<PoolState>,
    signal: Arc<Signal>,
}

/// The signals of the pullers to the pool.
#[derive(Default)]
struct Signal {
    /// The number of pullers that have not ended.
    pullers: AtomicUsize,
    /// `true` if the pool has to collect outcomes.
    has_outcomes: AtomicBool,
    pool: AtomicWaker,
}

/// The state of a pool that changes during the superstep.
#[derive(Default)]
struct PoolState {
    /// `true` if no further puller may be spawned.
    is_closed: bool,
    /// The tasks that have ended and are to be collected.
    ended: Vec<usize>,
    /// All pullers, to abort them.
    pullers: Vec<AbortHandle>,
}

/// The pullers of a superstep, as the run sees them. They are aborted when it is dropped.
pub(crate) struct TaskPool(Arc<Pool>);

/// A puller yields to the runtime after this many tasks, so that it does not keep a worker for itself.
const YIELD_EVERY: usize = 16;

impl TaskPool {
    /// Creates a pool for these tasks. Each comes with the memory for its writes.
    pub(crate) fn new(
        inputs: TaskInputs,
        tasks: Vec<(At, Option<Task>, TaskWrites)>,
        spans: RunSpan,
        is_eager: bool,
        limit: usize,
    ) -> Self {
        let queued =
            |(at, task, spare)| QueuedTask { at, task, progress: Mutex::new(TaskStage::Queued(spare)) };
        let shared = Pool {
            inputs,
            queue: tasks.into_iter().map(queued).collect(),
            next: AtomicUsize::new(0),
            limit,
            spans,
            is_eager,
            state: Mutex::default(),
            signal: Arc::default(),
        };
        Self(Arc::new(shared))
    }

    /// Spawns the pullers: one for each worker, but no more than there are tasks.
    pub(crate) fn start(&self, workers: usize) {
        for _ in 0..workers.min(self.0.queue.len()) {
            spawn(&self.0, None);
        }
    }

    /// Waits for outcomes to collect, and returns them; `None` once all pullers have ended.
    ///
    /// # Cancel safety
    /// If the future is dropped, no outcome is lost.
    pub(crate) async fn next_outcomes(&self) -> Option<Vec<CollectedTask>> {
        let (shared, signal) = (&self.0, &self.0.signal);
        poll_fn(|cx| {
            signal.pool.register(cx.waker());
            if !signal.has_outcomes.swap(false, Ordering::AcqRel) {
                // A puller adds its last outcome before it ends.
                let has_ended = signal.has_ended();
                if !(has_ended && signal.has_outcomes.swap(false, Ordering::AcqRel)) {
                    return if has_ended { Poll::Ready(None) } else { Poll::Pending };
                }
            }
            let ended = std::mem::take(&mut shared.state().ended);
            Poll::Ready(Some(ended.into_iter().filter_map(|nth| shared.collect(nth)).collect()))
        })
        .await
    }

    /// Ends the pool: no further task begins, and the running ones are aborted. Returns all tasks that have begun and were
    /// not collected yet.
    pub(crate) fn abort(&self) -> Vec<CollectedTask> {
        self.0.close();
        (0..self.0.queue.len()).filter_map(|nth| self.0.collect(nth)).collect()
    }

    /// Ends the pool, waits until all pullers have ended, and returns the tasks that were not collected yet.
    pub(crate) async fn call_off(&self) -> Vec<CollectedTask> {
        self.0.close();
        poll_fn(|cx| {
            self.0.signal.pool.register(cx.waker());
            if self.0.signal.has_ended() { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        self.abort()
    }
}

impl Drop for TaskPool {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Spawns a puller. `first` is a task that it executes before those in the queue. Returns it if the limit does not allow
/// another puller.
///
/// This is the only place that spawns.
fn spawn(shared: &Arc<Pool>, first: Option<PendingTask>) -> Option<PendingTask> {
    let mut state = shared.state();
    if state.is_closed {
        drop(state);
        first.into_iter().for_each(discard);
        return None;
    }
    // Grows only here, under the lock.
    if shared.signal.pullers.load(Ordering::Relaxed) >= shared.limit {
        return first;
    }
    shared.signal.pullers.fetch_add(1, Ordering::Relaxed);
    let end = PullerEnd(Arc::clone(&shared.signal));
    let puller = Puller { first, shared: Arc::clone(shared) };
    let puller = tokio::spawn(counted((shared.spans.carried(puller.work()), end)));
    state.pullers.push(puller.abort_handle());
    None
}

/// Counts a puller down when it ends, is aborted, or is dropped with the runtime.
struct PullerEnd(Arc<Signal>);

/// Executes a puller, and counts it down when it holds nothing of the run any more: neither a span nor the state, which would
/// have to be copied for the next superstep.
// One argument, so that the puller is dropped first also if it was never polled.
async fn counted<H: Future<Output = ()>>(puller: (H, PullerEnd)) {
    let (puller, _end) = puller;
    puller.await;
}

impl Drop for PullerEnd {
    fn drop(&mut self) {
        if self.0.pullers.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.pool.wake();
        }
    }
}

impl Signal {
    fn has_ended(&self) -> bool {
        self.pullers.load(Ordering::Acquire) == 0
    }

    fn notify(&self) {
        if !self.has_outcomes.swap(true, Ordering::AcqRel) {
            self.pool.wake();
        }
    }
}

impl Pool {
    fn state(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets no further task begin, and aborts the pullers.
    fn close(&self) {
        self.next.store(self.queue.len(), Ordering::Relaxed);
        let mut state = self.state();
        state.is_closed = true;
        let pullers = std::mem::take(&mut state.pullers);
        drop(state);
        pullers.iter().for_each(AbortHandle::abort);
    }

    /// Takes the next task from the queue.
    fn take_next(&self) -> Option<usize> {
        // Checked first, so that the number cannot overflow.
        if self.next.load(Ordering::Relaxed) >= self.queue.len() {
            return None;
        }
        Some(self.next.fetch_add(1, Ordering::Relaxed)).filter(|nth| *nth < self.queue.len())
    }

    /// Returns a task that has begun and was not collected yet. One that has not begun will not begin any more.
    fn collect(&self, nth: usize) -> Option<CollectedTask> {
        let queued = self.queue.get(nth)?;
        let mut progress = queued.progress.lock().unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *progress, TaskStage::Collected) {
            TaskStage::Queued(_) | TaskStage::Collected => None,
            TaskStage::Started => Some(CollectedTask { at: queued.at, outcome: None }),
            TaskStage::Ended(outcome) => Some(CollectedTask { at: queued.at, outcome: Some(outcome) }),
        }
    }

    /// Begins a task, and returns the memory for its writes; `None` if the pool has ended meanwhile.
    fn begin(queued: &QueuedTask) -> Option<TaskWrites> {
        let mut progress = queued.progress.lock().unwrap_or_else(PoisonError::into_inner);
        let TaskStage::Queued(spare) = &mut *progress else { return None };
        let spare = std::mem::take(spare);
        *progress = TaskStage::Started;
        Some(spare)
    }

    /// Ends a task.
    fn end(&self, nth: usize, queued: &QueuedTask, outcome: TaskOutcome) {
        let is_collected_now = self.is_eager || outcome.is_err();
        *queued.progress.lock().unwrap_or_else(PoisonError::into_inner) = TaskStage::Ended(outcome);
        if is_collected_now {
            self.state().ended.push(nth);
            self.signal.notify();
        }
    }
}

/// A spawned task that executes tasks of the superstep.
struct Puller {
    first: Option<PendingTask>,
    shared: Arc<Pool>,
}

impl Puller {
    /// Takes tasks from the queue until it is empty.
    async fn work(mut self) {
        if let Some(first) = self.first.take() {
            first.await;
        }
        let shared = &self.shared;
        // Each task is executed in the same box and with the same handle, unless they were handed over.
        let (mut queued, mut handle) = (None, None);
        let mut taken = 0;
        while let Some(nth) = shared.take_next() {
            let task = run(handle.take().unwrap_or_else(|| Arc::clone(shared)), nth);
            let mut running = match queued.take() {
                None => Box::pin(task),
                Some(mut running) => {
                    Pin::set(&mut running, task);
                    running
                }
            };
            let polled = poll_fn(|cx| Poll::Ready(running.as_mut().poll(cx))).await;
            match polled {
                Poll::Ready(returned) => (queued, handle) = (Some(running), Some(returned)),
                Poll::Pending => {
                    // At the limit, this puller waits for the task itself.
                    if let Some(running) = spawn(shared, Some(running)) {
                        running.await;
                    }
                }
            }
            taken += 1;
            if taken % YIELD_EVERY == 0 {
                tokio::task::yield_now().await;
            }
        }
    }
}

/// Runs one task.
async fn run(shared: Arc<Pool>, nth: usize) -> Arc<Pool> {
    let inputs = &shared.inputs;
    if let Some(queued) = shared.queue.get(nth)
        && let (Some(task), Some(ctx)) = (&queued.task, inputs.contexts.nth(nth))
        && let Some(node) = inputs.graph.nodes.get(queued.at.node)
        && let Some(spare) = Pool::begin(queued)
    {
        if let Some(events) = &inputs.events {
            send_start(&inputs.graph, events, queued.at, task).await;
        }
        let work = async {
            Work::new(node, &*inputs.state, task, ctx, inputs.keep, inputs.events.as_ref(), spare).await
        };
        // Outside of the attempts there is code of values only, such as the drop of an error.
        let worked = AssertUnwindSafe(work).catch_unwind().await;
        let outcome = worked.unwrap_or_else(|panic| Err(Failed::caught(panic).into()));
        shared.end(nth, queued, outcome);
    }
    shared
}

/// Notifies the listeners that a task starts.
pub(crate) async fn send_start(graph: &Compiled, events: &Events, at: At, task: &Task) {
    if let Some(name) = graph.names.get(at.node) {
        events.task_started(at.step, at.task, Arc::clone(name), task.packet.clone()).await;
    }
}

/// Returns the number of the runtime's workers; `None` if it has one thread only.
pub(crate) fn workers() -> Option<usize> {
    let runtime = Handle::try_current().ok()?;
    (runtime.runtime_flavor() == RuntimeFlavor::MultiThread).then(|| runtime.metrics().num_workers())
}
