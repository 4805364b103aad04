use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use superstep::run::Stop;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::LiveRun;
use super::job::Job;
use super::thread_queue::{Refused, ThreadQueue};
use crate::events::{EventLog, LogBudget};
use crate::protocol::{MultitaskStrategy, RunId, RunStatus, ThreadId};

/// The runs that this process has accepted.
pub(crate) struct Runs {
    threads: Mutex<HashMap<ThreadId, ThreadQueue>>,
    live: Mutex<Live>,
    tasks: Mutex<JoinSet<()>>,
    events: Arc<LogBudget>,
    /// Stops all runs when the server stops.
    pub(super) stop: Stop,
}

#[derive(Default)]
struct Live {
    runs: HashMap<RunId, Arc<LiveRun>>,
    /// The runs that have ended and whose events are kept, oldest first.
    ended: VecDeque<KeptEvents>,
    /// The bytes of their events.
    bytes: usize,
}

/// The events of a run that has ended.
struct KeptEvents {
    since: Instant,
    run: RunId,
    bytes: usize,
}

/// The bytes of events that a run keeps for its readers.
const LOG_BYTES: usize = 16 << 20;

/// The time for which the events of a run are kept after its end.
const KEEP_EVENTS: Duration = Duration::from_secs(300);

/// The number of ended runs whose events are kept.
const KEEP_RUNS: usize = 1_000;

/// The bytes of events of ended runs that are kept.
const KEEP_BYTES: usize = 64 << 20;

impl Runs {
    /// Creates an empty registry. Its logs share a budget.
    pub(crate) fn new(events: &Arc<LogBudget>) -> Self {
        Self {
            threads: Mutex::default(),
            live: Mutex::default(),
            tasks: Mutex::default(),
            events: Arc::clone(events),
            stop: Stop::new(),
        }
    }

    /// Creates the log of a run that is executed for the nth time.
    pub(crate) fn new_log(&self, epoch: u64, keeps_all: bool) -> Arc<EventLog> {
        EventLog::new(epoch, keeps_all, LOG_BYTES, &self.events)
    }

    fn threads(&self) -> MutexGuard<'_, HashMap<ThreadId, ThreadQueue>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn live(&self) -> MutexGuard<'_, Live> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the queue of a thread. Queues of idle threads are removed.
    fn queue<T>(&self, thread: ThreadId, change: impl FnOnce(&mut ThreadQueue) -> T) -> T {
        let mut threads = self.threads();
        let queue = threads.entry(thread).or_default();
        let result = change(queue);
        if queue.is_idle() {
            threads.remove(&thread);
        }
        result
    }

    /// Spawns a task that ends with the server.
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
    }

    /// Waits until all runs have ended. A dropped call ends those that have not.
    pub(crate) async fn idle(&self) {
        loop {
            let mut tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
            if tasks.is_empty() {
                return;
            }
            while tasks.join_next().await.is_some() {}
        }
    }

    /// Tells all runs to stop after their current superstep. The next server continues them.
    pub(crate) fn drain(&self) {
        self.stop.drain();
    }

    /// Returns a run that has not ended, or whose events are kept.
    pub(crate) fn find(&self, run: RunId) -> Option<Arc<LiveRun>> {
        self.live().runs.get(&run).cloned()
    }

    /// Returns the numbers of runs that wait and that are active.
    pub(crate) fn count_open(&self) -> (usize, usize) {
        let live = self.live();
        let count = |status| live.runs.values().filter(|run| run.status() == status).count();
        (count(RunStatus::Pending), count(RunStatus::Running))
    }

    /// Returns the unfinished runs of a thread, in order.
    pub(crate) fn unfinished(&self, thread: ThreadId) -> Vec<Arc<LiveRun>> {
        self.threads().get(&thread).map(|queue| queue.runs().cloned().collect()).unwrap_or_default()
    }

    /// Returns all unfinished runs on threads.
    pub(super) fn all_unfinished(&self) -> Vec<Arc<LiveRun>> {
        self.threads().values().flat_map(|queue| queue.runs().cloned().collect::<Vec<_>>()).collect()
    }

    /// Returns `true` if a thread has other runs than one: active, or waiting for their turn.
    pub(super) fn has_others(&self, thread: ThreadId, run: RunId) -> bool {
        self.threads().get(&thread).is_some_and(|queue| queue.has_others(run))
    }

    pub(super) fn add(&self, run: &Arc<LiveRun>) {
        self.live().runs.insert(run.run_id, Arc::clone(run));
    }

    /// Forgets a run that has ended. Its events are kept for a while if it is resumable.
    pub(super) fn remove(&self, run: &LiveRun) {
        let now = Instant::now();
        let mut live = self.live();
        if run.log.keeps_all() {
            let bytes = run.log.bytes();
            live.bytes += bytes;
            live.ended.push_back(KeptEvents { since: now, run: run.run_id, bytes });
        } else {
            live.runs.remove(&run.run_id);
        }
        live.trim(now);
    }

    pub(super) fn reserve(
        &self,
        thread: ThreadId,
        live: &Arc<LiveRun>,
        strategy: MultitaskStrategy,
        delayed: bool,
    ) -> Result<bool, Refused> {
        self.queue(thread, |queue| queue.reserve(live, strategy, delayed))
    }

    /// Completes the place of a run. Returns `true` if a worker has to be started.
    #[must_use = "a worker has to be started"]
    pub(super) fn fill(&self, thread: ThreadId, job: Box<Job>) -> bool {
        self.queue(thread, |queue| queue.fill(job))
    }

    /// Gives a delayed run its turn. Returns `true` if a worker has to be started.
    #[must_use = "a worker has to be started"]
    pub(super) fn due(&self, thread: ThreadId, run: RunId) -> bool {
        self.queue(thread, |queue| queue.due(run))
    }

    /// Gives up the place of a run that was not stored. Returns `true` if a worker has to be started.
    #[must_use = "a worker has to be started"]
    pub(super) fn give_up(&self, thread: ThreadId, run: RunId) -> bool {
        self.queue(thread, |queue| queue.give_up(run))
    }

    pub(super) fn take(&self, thread: ThreadId, run: RunId) -> Option<Box<Job>> {
        self.queue(thread, |queue| queue.take(run))
    }

    pub(super) fn start_next(&self, thread: ThreadId) -> Option<Box<Job>> {
        self.queue(thread, ThreadQueue::start_next)
    }

    pub(super) fn finish(&self, thread: ThreadId) {
        self.queue(thread, ThreadQueue::finish);
    }

    /// Holds an idle thread, so that no run starts on it. Returns `false` if the thread is busy.
    #[must_use = "a busy thread is not held"]
    pub(super) fn hold(&self, thread: ThreadId) -> bool {
        self.queue(thread, ThreadQueue::hold)
    }

    /// Releases a thread that was held. Returns `true` if a worker has to be started.
    #[must_use = "a worker has to be started"]
    pub(super) fn release(&self, thread: ThreadId) -> bool {
        self.queue(thread, ThreadQueue::release)
    }
}

impl Live {
    fn trim(&mut self, now: Instant) {
        while let Some(oldest) = self.ended.front() {
            let old = now.duration_since(oldest.since) > KEEP_EVENTS;
            if !old && self.ended.len() <= KEEP_RUNS && self.bytes <= KEEP_BYTES {
                return;
            }
            if let Some(oldest) = self.ended.pop_front() {
                self.runs.remove(&oldest.run);
                self.bytes -= oldest.bytes;
            }
        }
    }
}

impl std::fmt::Debug for Runs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runs").field("threads", &self.threads().len()).finish_non_exhaustive()
    }
}
