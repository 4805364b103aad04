use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;
use std::time::SystemTime;

use crate::checkpoint::{StatusKind, ThreadQuery, ThreadRecord};
use crate::engine::caught;
use crate::error::{Error, ErrorKind};
use crate::state::GraphState;

#[cfg(doc)]
use super::ThreadStatus;
use super::erased::ErasedThread;
use super::status::{ReadStatus, is_of_thread, read_thread, unreadable};
use super::{ListedThread, PersistentGraph, ThreadCursor};

/// A list of threads with their status. Made by [`PersistentGraph::list`], [`PersistentGraph::unfinished`] and
/// [`PersistentGraph::due`].
///
/// Await it for all threads at once, or read it [page by page](Self::next_page). Awaiting it fails like
/// [`next_page`](Self::next_page), and only reads. A page costs as much as the threads in it, however many threads are
/// stored.
#[must_use = "a list does nothing until it is awaited"]
#[derive(Debug)]
pub struct ThreadList<S: GraphState, D = ()> {
    graph: PersistentGraph<S, D>,
    query: ThreadQuery,
    page_size: usize,
    /// The position after the last page.
    cursor: Option<ThreadCursor>,
    /// `true` if a page was read or a cursor was given.
    begun: bool,
    ended: bool,
}

/// The default number of threads in a page.
const PAGE: usize = 64;

impl<S: GraphState, D: Send + Sync + 'static> PersistentGraph<S, D> {
    /// Returns a list of the threads, ordered by name. Select some of them by their status, metadata or name, and choose
    /// another order.
    ///
    /// ```
    /// # use superstep::{END, GraphState, START, StateGraph};
    /// # use superstep::checkpoint::MemoryCheckpointer;
    /// use superstep::checkpoint::StatusKind;
    /// use superstep::thread::{ThreadCursor, ThreadStatus};
    /// # #[derive(GraphState, Clone)] struct Count { #[state(reducer = add)] total: u32 }
    /// # async fn add() -> CountUpdate { CountUpdate::default().total(1_u32) }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> superstep::Result<()> {
    /// # let graph = StateGraph::<Count>::new().edge(START, add).edge(add, END).compile()?;
    /// # let graph = graph.with_checkpointer(MemoryCheckpointer::default());
    /// for name in ["a", "b", "c"] {
    ///     graph.thread(name).run(Count::input()).metadata("tenant", "acme").await?;
    /// }
    ///
    /// // A server returns a page, and the position after it as a string.
    /// let finished = || graph.list().status([StatusKind::Finished]).metadata("tenant", "acme").newest_first().page_size(2);
    /// let mut list = finished();
    /// let page = list.next_page().await?.expect("a page");
    /// assert_eq!(page.len(), 2);
    /// assert!(matches!(page[0].status, ThreadStatus::Finished));
    /// let cursor = list.cursor().expect("more threads").to_string();
    ///
    /// // The next request continues there.
    /// let cursor: ThreadCursor = cursor.parse().expect("a cursor");
    /// let mut list = finished().continue_from(&cursor);
    /// assert_eq!(list.next_page().await?.expect("a page").len(), 1);
    /// assert!(list.cursor().is_none());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// For names and stored status without a read of each thread, use [`threads`](Self::threads).
    pub fn list(&self) -> ThreadList<S, D> {
        ThreadList::new(self.clone(), ThreadQuery::new())
    }

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
    pub fn unfinished(&self) -> ThreadList<S, D> {
        ThreadList::new(self.clone(), ThreadQuery::new().unfinished(true))
    }

    /// Returns the unfinished threads without an active run that can continue at time `now`, the longest due first.
    ///
    /// Their sleeps are over, or their questions have expired. A background job can resume them periodically while other
    /// threads run. Threads that wait for a later time are not read. See [`Context::sleep`](crate::Context::sleep).
    ///
    /// The list shows the threads as they were when it was read. Resume them with [`ListedThread::resume`], which does
    /// not disturb a run that has begun since.
    ///
    /// A failed thread is never due, because resuming it would run its failed tasks again each time. If other tasks of it
    /// ask questions that expire, [`unfinished`](Self::unfinished) lists them: see [`ListedThread::interrupts`].
    ///
    /// A thread at a breakpoint inside a subgraph call is not due either, even if other tasks of it sleep or ask: a
    /// resumption would pass the breakpoint. After the breakpoint it is due.
    ///
    /// A due thread that this program cannot read is listed as [`Unreadable`](ThreadStatus::Unreadable). Threads that an
    /// older version of this crate has suspended come first.
    pub fn due(&self, now: SystemTime) -> ThreadList<S, D> {
        ThreadList::new(self.clone(), ThreadQuery::new().unfinished(true).due(now))
    }
}

impl<S: GraphState, D: Send + Sync + 'static> ThreadList<S, D> {
    fn new(graph: PersistentGraph<S, D>, query: ThreadQuery) -> Self {
        Self { graph, query, page_size: PAGE, cursor: None, begun: false, ended: false }
    }

    /// Selects the threads with one of these kinds of status.
    ///
    /// A thread that an older version of this crate has written has the kind [`Unknown`](StatusKind::Unknown).
    pub fn status(mut self, kinds: impl IntoIterator<Item = StatusKind>) -> Self {
        self.query = self.query.status(kinds);
        self
    }

    /// Selects the threads whose newest run has this key in its metadata with exactly this value. Several keys may be given.
    ///
    /// A resumption or an update has metadata of its own, and takes the place of its run here: give it the same keys, so that
    /// the thread stays in the list. [`ListedThread::resume`] does so by itself.
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<serde_json::Value>) -> Self {
        self.query.metadata.insert(key.into(), value.into());
        self
    }

    /// Orders the threads by the time of the last change of their status, newest first.
    ///
    /// Threads with the same time are ordered by name. Threads of older versions of this crate, which have no such time, come
    /// last. A thread whose status changes while the list is read may be listed twice or not at all. A list of
    /// [due](PersistentGraph::due) threads keeps its own order.
    pub fn newest_first(mut self) -> Self {
        self.query = self.query.newest_first(true);
        self
    }

    /// Sets the number of threads in a page; at least 1. The default is 64.
    pub fn page_size(mut self, threads: usize) -> Self {
        self.page_size = threads.max(1);
        self
    }

    /// Continues a list with the same selection and order after a page that was read before; see [`cursor`](Self::cursor).
    pub fn continue_from(mut self, cursor: &ThreadCursor) -> Self {
        self.cursor = Some(cursor.clone());
        self
    }

    /// Returns the position after the last page, or `None` if no page was read yet or no thread follows.
    pub fn cursor(&self) -> Option<&ThreadCursor> {
        self.cursor.as_ref().filter(|_| self.begun && !self.ended)
    }

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
    pub async fn next_page(&mut self) -> Result<Option<Vec<ListedThread<S, D>>>, Error> {
        if self.ended {
            return Ok(None);
        }
        let query = match &self.cursor {
            None => self.query.clone(),
            Some(cursor) => {
                let continued = cursor.continues(self.query.clone());
                continued.ok_or_else(|| self.graph.erased.refuse(ErrorKind::Runtime(OTHER_ORDER)))?
            }
        };
        let page = self.graph.threads(query.limit(self.page_size)).await?;
        let mut threads = Vec::new();
        for record in &page.items {
            let thread = self.graph.thread(Arc::clone(&record.thread));
            let read = read_status(thread.erased(), record.clone(), self.query.clone()).await?;
            threads.extend(read.map(|read| ListedThread::new(thread, read)));
        }
        self.begun = true;
        if let Some(last) = page.items.last() {
            self.cursor = Some(ThreadCursor::after(&self.query, last));
        }
        self.ended = !page.more || page.items.is_empty();
        Ok(Some(threads))
    }
}

const OTHER_ORDER: &str = "the cursor belongs to a list of threads in another order";

/// Reads the status of a listed thread. Returns `None` if the query no longer selects it.
fn read_status(
    thread: ErasedThread,
    record: ThreadRecord,
    query: ThreadQuery,
) -> Pin<Box<dyn Future<Output = Result<Option<ReadStatus>, Error>> + Send>> {
    Box::pin(async move {
        match caught(&thread.graph.graph.0.name, read_thread(&thread, &query)).await {
            Ok(status) => Ok(status),
            Err(error) if is_of_thread(&error) => Ok(Some(unreadable(&record, error))),
            Err(error) => Err(error),
        }
    })
}

impl<S: GraphState, D: Send + Sync + 'static> IntoFuture for ThreadList<S, D> {
    type Output = Result<Vec<ListedThread<S, D>>, Error>;
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
