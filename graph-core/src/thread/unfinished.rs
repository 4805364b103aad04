use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;
use std::time::SystemTime;

use crate::checkpoint::{CheckpointId, Fence, ThreadQuery, ThreadRecord};
use crate::engine::caught;
use crate::error::Error;
use crate::interrupt::OpenInterrupt;
use crate::run::{NeedsContext, Run};
use crate::state::GraphState;

use super::erased::ErasedThread;
use super::run::{IntoAnswers, OnThread, Resuming};
use super::status::{UnfinishedStatus, is_of_thread, read_thread, unreadable};
use super::{PersistentGraph, Thread, ThreadStatus};

/// The threads that are not finished, ordered by name, or those of them that are due, ordered by their wake-up time.
///
/// Made by [`PersistentGraph::unfinished`] and [`PersistentGraph::due`]. Await it for all threads at once, or read it
/// [page by page](Self::next_page). Awaiting it fails like [`next_page`](Self::next_page), and only reads.
#[must_use = "a list does nothing until it is awaited"]
#[derive(Debug)]
pub struct Unfinished<S: GraphState, D = ()> {
    graph: PersistentGraph<S, D>,
    query: ThreadQuery,
    ended: bool,
}

/// A thread that is not finished.
#[derive(Debug)]
#[non_exhaustive]
pub struct UnfinishedThread<S: GraphState, D = ()> {
    /// The thread. To continue it, use [`resume`](Self::resume) of the list's entry.
    pub thread: Thread<S, D>,
    /// The thread's head; `None` if the store cannot read it.
    pub checkpoint: Option<CheckpointId>,
    /// The run that made the head; `None` if the store cannot read it.
    pub run_id: Option<Arc<str>>,
    /// The nodes of the planned tasks, one name for each task. Some of them may have finished. Empty if the store cannot
    /// read the head.
    pub next: Vec<Arc<str>>,
    /// The reason why the thread is not finished.
    pub status: ThreadStatus,
    /// The earliest time at which a sleeping task wakes or a retry is due.
    pub wakes_at: Option<SystemTime>,
    pub(super) open_interrupts: Vec<OpenInterrupt>,
    /// The epoch and head of the thread when it was listed.
    pub(super) seen: Option<Fence>,
}

/// The number of threads in a page.
const PAGE: usize = 64;

impl<S: GraphState, D: Send + Sync + 'static> PersistentGraph<S, D> {
    /// Returns the threads that are not finished, for recovery when a program starts.
    ///
    /// These threads wait for an answer, are at a breakpoint, sleep, have failed, have reached a limit, were stopped, or had
    /// a run when their process died. The list reads the head of each of them, and no finished thread. A thread that this
    /// program cannot read is listed as [`Unreadable`](ThreadStatus::Unreadable).
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
    ///     let is_due = unfinished.wakes_at.is_some_and(|time| time <= SystemTime::now());
    ///     match unfinished.status {
    ///         ThreadStatus::Running | ThreadStatus::Stopped => {}
    ///         ThreadStatus::WaitingForTime if is_due => {}
    ///         // Resuming fails with the reason.
    ///         ThreadStatus::Unreadable(_) => {}
    ///         // A person has to answer, or to look at the failure.
    ///         _ => continue,
    ///     }
    ///     // One bad thread does not keep the others waiting.
    ///     if let Err(error) = unfinished.resume(()).await {
    ///         eprintln!("thread {}: {error}", unfinished.thread.name());
    ///     }
    /// }
    /// assert!(graph.unfinished().await?.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    pub fn unfinished(&self) -> Unfinished<S, D> {
        let query = ThreadQuery::new().unfinished(true);
        Unfinished { graph: self.clone(), query, ended: false }
    }

    /// Returns the unfinished threads without an active run that can continue at time `now`, the longest due first.
    ///
    /// Their sleeps are over, or their questions have expired. A background job can resume them periodically while other
    /// threads run. Threads that wait for a later time are not read. See [`Context::sleep`](crate::Context::sleep).
    ///
    /// The list shows the threads as they were when it was read. Resume them with [`UnfinishedThread::resume`], which does
    /// not disturb a run that has begun since.
    ///
    /// A failed thread is never due, because resuming it would run its failed tasks again each time. If other tasks of it
    /// ask questions that expire, [`unfinished`](Self::unfinished) lists them: see [`UnfinishedThread::interrupts`].
    ///
    /// A thread at a breakpoint inside a subgraph call is not due either, even if other tasks of it sleep or ask: a
    /// resumption would pass the breakpoint. After the breakpoint it is due.
    ///
    /// A due thread that this program cannot read is listed as [`Unreadable`](ThreadStatus::Unreadable). Threads that an
    /// older version of this crate has suspended come first.
    pub fn due(&self, now: SystemTime) -> Unfinished<S, D> {
        let query = ThreadQuery::new().unfinished(true).due(now);
        Unfinished { graph: self.clone(), query, ended: false }
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
    /// [`Unreadable`](ThreadStatus::Unreadable) and does not fail the page.
    ///
    /// # Errors
    /// [`Checkpoint`](crate::ErrorKind::Checkpoint), if the checkpointer cannot list the threads or is not available. The
    /// next call returns the same page.
    ///
    /// # Cancel safety
    /// Cancel safe: after a dropped call, the next call returns the same page.
    pub async fn next_page(&mut self) -> Result<Option<Vec<UnfinishedThread<S, D>>>, Error> {
        if self.ended {
            return Ok(None);
        }
        let page = self.graph.threads(self.query.clone().limit(PAGE)).await?;
        let mut threads = Vec::new();
        for record in &page.items {
            let thread = self.graph.thread(Arc::clone(&record.thread));
            let Some(status) = read_status(thread.erased(), record.clone(), self.query.due).await? else {
                continue;
            };
            let UnfinishedStatus { checkpoint, run_id, next, status, wakes_at, open_interrupts, seen } =
                status;
            threads.push(UnfinishedThread {
                thread,
                checkpoint,
                run_id,
                next,
                status,
                wakes_at,
                open_interrupts,
                seen,
            });
        }
        if let Some(last) = page.items.last() {
            self.query = self.query.clone().continue_after(last);
        }
        self.ended = !page.more || page.items.is_empty();
        Ok(Some(threads))
    }
}

impl<S: GraphState, D: Send + Sync + 'static> UnfinishedThread<S, D> {
    /// Creates a run that continues the thread, if the thread has not changed since it was listed.
    ///
    /// Otherwise it is like [`Thread::resume`]. A worker that works through a list must not take over a run that has begun
    /// since: a person may have answered a question, for example.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use superstep::checkpoint::MemoryCheckpointer;
    /// # use superstep::{Context, END, ErrorKind, GraphState, START, StateGraph};
    /// # #[derive(GraphState, Clone)]
    /// # struct Order { reminded: bool }
    /// # async fn remind(_: &Order, cx: &Context) -> OrderUpdate {
    /// #     cx.sleep(Duration::from_millis(5)).await;
    /// #     Order::update().reminded(true)
    /// # }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> superstep::Result<()> {
    /// # let graph = StateGraph::<Order>::new().edge(START, remind).edge(remind, END).compile()?;
    /// # let graph = graph.with_checkpointer(MemoryCheckpointer::new());
    /// # let thread = graph.thread("17");
    /// # let outcome = thread.run(Order::input()).suspend_sleeps_longer_than(Duration::ZERO).await?;
    /// # let wakes_at = outcome.pause().and_then(|pause| pause.wakes_at()).expect("it sleeps");
    /// for due in graph.due(wakes_at).await? {
    ///     # thread.resume(()).await?;
    ///     match due.resume(()).await {
    ///         // Another run was faster, and continues the thread.
    ///         Err(error) if matches!(error.kind(), ErrorKind::Conflict(_)) => {}
    ///         # Ok(_) => panic!("the thread has changed"),
    ///         resumed => drop(resumed?),
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Thread::resume`], and [`Conflict`](crate::ErrorKind::Conflict) if another run or update has written a checkpoint
    /// or has begun since the thread was listed. The other run is not disturbed then.
    ///
    /// # Cancel safety
    /// As [`Thread::resume`].
    ///
    /// # Durability
    /// As [`Thread::resume`].
    pub fn resume(&self, answers: impl IntoAnswers) -> Run<S, D, NeedsContext, OnThread<S, D, Resuming<S>>> {
        let mut run = self.thread.run_from(None, Resuming::new(answers.into_answers()));
        run.target.expected.fence = self.seen;
        run
    }
}

impl<S: GraphState, D> UnfinishedThread<S, D> {
    /// Returns the open interrupts of the thread, whatever its status.
    ///
    /// They are those of [`ThreadStatus::WaitingForAnswer`]. A failed thread has them too, if other tasks of the superstep
    /// have asked. Empty if this program cannot read the thread.
    pub fn interrupts(&self) -> &[OpenInterrupt] {
        &self.open_interrupts
    }
}

/// Reads the status of a listed thread. Returns `None` if it has finished, or if it is not due at the given time.
fn read_status(
    thread: ErasedThread,
    record: ThreadRecord,
    due: Option<SystemTime>,
) -> Pin<Box<dyn Future<Output = Result<Option<UnfinishedStatus>, Error>> + Send>> {
    Box::pin(async move {
        match caught(&thread.graph.graph.0.name, read_thread(&thread)).await {
            Ok(status) => Ok(status.filter(|status| due.is_none_or(|now| status.is_due(now)))),
            Err(error) if is_of_thread(&error) => Ok(Some(unreadable(&record, error))),
            Err(error) => Err(error),
        }
    })
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
