use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;
use std::time::SystemTime;

use crate::checkpoint::{CheckpointId, ThreadQuery};
use crate::engine::caught;
use crate::error::Error;
use crate::state::GraphState;

use super::status::{is_of_thread, read_thread, unreadable};
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
    /// The thread. [`resume`](Thread::resume) continues it.
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
    ///     let resumed = match unfinished.status {
    ///         ThreadStatus::Running | ThreadStatus::Stopped => unfinished.thread.resume(()).await,
    ///         ThreadStatus::WaitingForTime if is_due => unfinished.thread.resume(()).await,
    ///         ThreadStatus::Unreadable(error) => Err(error),
    ///         // A person has to answer, or to look at the failure.
    ///         _ => continue,
    ///     };
    ///     // One bad thread does not keep the others waiting.
    ///     if let Err(error) = resumed {
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
            match caught(self.graph.graph().name(), read_thread(&thread)).await {
                Ok(left) => {
                    let is_listed =
                        |left: &_| self.query.due.is_none_or(|now| UnfinishedThread::is_due(left, now));
                    threads.extend(left.filter(is_listed));
                }
                Err(error) if is_of_thread(&error) => threads.push(unreadable(thread, record, error)),
                Err(error) => return Err(error),
            }
        }
        if let Some(last) = page.items.last() {
            self.query = self.query.clone().continue_after(last);
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
