use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;
use std::time::SystemTime;

use crate::checkpoint::{CheckpointId, StoredCheckpoint, ThreadQuery};
use crate::engine::persist::{Gate, StoredFailure, read_gate, read_stopped, read_tasks};
use crate::engine::{caught, clock};
use crate::error::Error;
use crate::interrupt::OpenInterrupt;
use crate::state::GraphState;

use super::load::read;
use super::{PersistentGraph, TaskError, Thread};

/// The threads with pending tasks, ordered by name.
///
/// Made by [`PersistentGraph::unfinished`] and [`PersistentGraph::due`]. Await it for all threads at once, or read it
/// [page by page](Self::next_page). Awaiting it fails like [`next_page`](Self::next_page), and only reads.
#[must_use = "a list does nothing until it is awaited"]
#[derive(Debug)]
pub struct Unfinished<S: GraphState, D = ()> {
    graph: PersistentGraph<S, D>,
    query: ThreadQuery,
    /// Selects the threads that are due at this time.
    due: Option<SystemTime>,
    ended: bool,
}

/// A thread with pending tasks.
#[derive(Debug)]
#[non_exhaustive]
pub struct UnfinishedThread<S: GraphState, D = ()> {
    /// The thread. [`resume`](Thread::resume) continues it.
    pub thread: Thread<S, D>,
    /// The thread's head; `None` if it cannot be read.
    pub checkpoint: Option<CheckpointId>,
    /// The run that made the head; `None` if it cannot be read.
    pub run_id: Option<Arc<str>>,
    /// The nodes of the pending tasks, one name for each task.
    pub next: Vec<Arc<str>>,
    /// The reason why the thread is not finished.
    pub status: ThreadStatus,
    /// The earliest time at which a sleeping task wakes or a retry is due.
    pub wakes_at: Option<SystemTime>,
}

/// The reason why a thread with pending tasks is not finished.
#[derive(Debug)]
#[non_exhaustive]
pub enum ThreadStatus {
    /// Open interrupts wait for answers. If [`wakes_at`](UnfinishedThread::wakes_at) is set, the questions expire then.
    WaitingForAnswer(Vec<OpenInterrupt>),
    /// The thread has stopped at breakpoints.
    AtBreakpoint {
        /// The nodes of the next superstep that have a breakpoint before them.
        before: Vec<String>,
        /// The nodes of the last superstep that have a breakpoint after them.
        after: Vec<String>,
    },
    /// The thread sleeps, and no run is active.
    WaitingForTime,
    /// The run was [stopped](crate::run::Stop).
    Stopped,
    /// A node has failed and will not be retried, or its writes were refused.
    ///
    /// A resumption that crashed after the failure does not change this status.
    Failed(Vec<TaskError>),
    /// A run has started and has not stored its end.
    ///
    /// The run may be active in this or another process. It may also have crashed, been dropped, or reached its recursion
    /// limit or a superstep timeout. The checkpointer cannot distinguish these cases. Resuming takes over the thread.
    Running,
    /// The stored checkpoint cannot be read.
    Unreadable(Error),
}

/// The number of threads in a page.
const PAGE: usize = 64;

impl<S: GraphState, D: Send + Sync + 'static> PersistentGraph<S, D> {
    /// Returns the threads with pending tasks, for recovery when a program starts.
    ///
    /// These threads wait for an answer, are at a breakpoint, sleep, have failed, were stopped, or had a run when their process
    /// died. The head of each thread is read. A thread that only waits for a join has no pending tasks and is not included.
    ///
    /// ```
    /// # use superstep::{END, GraphState, START, StateGraph};
    /// # use superstep::checkpoint::MemoryCheckpointer;
    /// use superstep::thread::ThreadStatus;
    /// # use std::time::SystemTime;
    /// # #[derive(GraphState, Clone)] struct Count { #[state(reducer = add)] total: u32 }
    /// # async fn add() -> CountUpdate { Count::update().total(1_u32) }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> superstep::Result<()> {
    /// # let graph = StateGraph::<Count>::new().edge(START, add).edge(add, END).compile()?;
    /// # let graph = graph.with_checkpointer(MemoryCheckpointer::default());
    /// # drop(graph.thread("a").run(Count::input()).start().await?);
    /// // When the program starts, and no other process uses these threads:
    /// for unfinished in graph.unfinished().await? {
    ///     match unfinished.status {
    ///         ThreadStatus::Running | ThreadStatus::Stopped => drop(unfinished.thread.resume(()).await?),
    ///         ThreadStatus::WaitingForTime if unfinished.wakes_at.is_some_and(|time| time <= SystemTime::now()) => {
    ///             unfinished.thread.resume(()).await?;
    ///         }
    ///         // A person has to answer, or to look at the failure.
    ///         _ => {}
    ///     }
    /// }
    /// assert!(graph.unfinished().await?.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    pub fn unfinished(&self) -> Unfinished<S, D> {
        let query = ThreadQuery::new().unfinished(true);
        Unfinished { graph: self.clone(), query, due: None, ended: false }
    }

    /// Returns the unfinished threads without an active run that can continue at time `now`.
    ///
    /// Their sleeps are over, or their questions have expired. A background job can resume them periodically while other
    /// threads run. See [`Context::sleep`](crate::Context::sleep).
    pub fn due(&self, now: SystemTime) -> Unfinished<S, D> {
        Unfinished { due: Some(now), ..self.unfinished() }
    }
}

impl<S: GraphState, D: Send + Sync + 'static> Unfinished<S, D> {
    /// Selects the threads whose names begin with `prefix`.
    pub fn prefix(mut self, prefix: impl AsRef<str>) -> Self {
        self.query.prefix = Some(prefix.as_ref().into());
        self
    }

    /// Selects the threads whose names sort after `name`.
    pub fn after(mut self, name: impl AsRef<str>) -> Self {
        self.query.after = Some(name.as_ref().into());
        self
    }

    /// Returns the next page of threads, or `None` at the end.
    ///
    /// A page may be empty although more pages follow. A thread that cannot be read is listed as
    /// [`Unreadable`](ThreadStatus::Unreadable).
    ///
    /// # Errors
    /// [`Checkpoint`](crate::ErrorKind::Checkpoint), if the checkpointer cannot list the threads.
    ///
    /// # Cancel safety
    /// Cancel safe: after a dropped call, the next call returns the same page.
    pub async fn next_page(&mut self) -> Result<Option<Vec<UnfinishedThread<S, D>>>, Error> {
        if self.ended {
            return Ok(None);
        }
        let query = self.query.clone().limit(PAGE);
        let page = self.graph.threads(query).await?;
        let mut threads = Vec::new();
        for record in &page.items {
            let thread = self.graph.thread(Arc::clone(&record.thread));
            let left = match caught(self.graph.graph().name(), read_thread(&thread)).await {
                Ok(left) => left,
                Err(error) => Some(unreadable(thread, error)),
            };
            threads.extend(left.filter(|left| self.due.is_none_or(|now| left.is_due(now))));
        }
        if let Some(last) = page.items.last() {
            self.query.after = Some(Arc::clone(&last.thread));
        }
        self.ended = !page.more || page.items.is_empty();
        Ok(Some(threads))
    }
}

impl<S: GraphState, D> UnfinishedThread<S, D> {
    /// Returns `true` if the thread has no active run and its wake-up time has passed.
    fn is_due(&self, now: SystemTime) -> bool {
        let is_idle = matches!(
            self.status,
            ThreadStatus::WaitingForTime | ThreadStatus::WaitingForAnswer(_) | ThreadStatus::Stopped
        );
        is_idle && self.wakes_at.is_some_and(|time| time <= now)
    }
}

impl<S: GraphState, D: Send + Sync + 'static> IntoFuture for Unfinished<S, D> {
    type Output = Result<Vec<UnfinishedThread<S, D>>, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(mut self) -> Self::IntoFuture {
        Box::pin(async move {
            let mut all = Vec::new();
            while let Some(page) = self.next_page().await? {
                all.extend(page);
            }
            Ok(all)
        })
    }
}

fn unreadable<S: GraphState, D>(thread: Thread<S, D>, error: Error) -> UnfinishedThread<S, D> {
    let status = ThreadStatus::Unreadable(error);
    UnfinishedThread { thread, checkpoint: None, run_id: None, next: Vec::new(), status, wakes_at: None }
}

/// Reads the status of a thread, or `None` if it has finished since it was listed.
async fn read_thread<S: GraphState, D: Send + Sync + 'static>(
    thread: &Thread<S, D>,
) -> Result<Option<UnfinishedThread<S, D>>, Error> {
    let Some(stored) = read(thread, None).await?.found else { return Ok(None) };
    let StoredCheckpoint { checkpoint, records, .. } = stored;
    let tasks = read_tasks::<S, D>(&thread.graph.0.graph.0, &thread.name, &checkpoint, &records);
    let tasks = tasks.map_err(|kind| thread.graph.refuse(kind))?;
    if tasks.is_empty() {
        return Ok(None);
    }
    let next = tasks.iter().map(|(node, _)| Arc::clone(node)).collect();
    let stopped = read_stopped(&records);
    let (mut questions, mut failures, mut wakes_at) = (Vec::new(), Vec::new(), None);
    for (index, (node, known)) in tasks.into_iter().enumerate() {
        if known.result.is_some() {
            continue;
        }
        let later = known.sleeps.iter().filter_map(|&(_, millis)| clock::from_millis(millis));
        let retry_at = known.failure.as_ref().and_then(StoredFailure::retry_at);
        let later = later.chain(retry_at);
        wakes_at = wakes_at.into_iter().chain(later.filter(|time| *time > clock::now())).min();
        // An open question is newer than an earlier failure of its task.
        if known.questions.is_empty() && retry_at.is_none() {
            failures.extend(known.failure.map(TaskError::from));
        }
        questions.extend(known.questions.into_iter().map(|(id, question)| question.open(id, &node, index)));
    }
    let gate = read_gate(&records).filter(Gate::stands);
    let status = match (&stopped, gate) {
        (Some(stopped), _) if stopped.told => ThreadStatus::Stopped,
        (Some(_), _) if questions.is_empty() => ThreadStatus::WaitingForTime,
        _ if !failures.is_empty() => ThreadStatus::Failed(failures),
        _ if !questions.is_empty() => ThreadStatus::WaitingForAnswer(questions),
        (_, Some(gate)) => ThreadStatus::AtBreakpoint { before: gate.before, after: gate.after },
        _ => ThreadStatus::Running,
    };
    // A stopped run has stored its own wake-up time.
    let wakes_at = stopped.map_or(wakes_at, |stopped| stopped.wakes_at());
    let wakes_at = if matches!(status, ThreadStatus::Failed(_)) { None } else { wakes_at };
    Ok(Some(UnfinishedThread {
        thread: thread.clone(),
        checkpoint: Some(checkpoint.id),
        run_id: Some(Arc::clone(&checkpoint.run.id)),
        next,
        status,
        wakes_at,
    }))
}
