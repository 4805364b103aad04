//! The subgraph calls of a thread, without their types.

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;

use crate::checkpoint::{Checkpoint, CheckpointId, CheckpointQuery};
use crate::engine::{caught, is_applied_by};
use crate::error::Error;
use crate::state::GraphState;

use super::call_reader::{Boxed, CallParent, CallReader, parent_of};
use super::erased::ErasedThread;
use super::load::read;
use super::start_run::require_checkpoint;
use super::{CallSnapshot, Thread};

/// The number of checkpoints or namespaces in a page.
const PAGE: usize = 64;

impl<S: GraphState, D: Send + Sync + 'static> Thread<S, D> {
    /// Returns the subgraph calls that the tasks of a checkpoint have made, with the calls inside them. `None` means the
    /// thread's head.
    ///
    /// For programs that do not know the types of the subgraphs, such as a server. [`within`](Self::within) returns the
    /// calls of one subgraph with its types.
    ///
    /// For an older checkpoint, the call reads the checkpoints of the calls that were made since.
    ///
    /// ```
    /// # use superstep::checkpoint::MemoryCheckpointer;
    /// # use superstep::{END, GraphState, START, StateGraph};
    /// # #[derive(GraphState, Clone)]
    /// # struct Report { #[state(reducer = append)] notes: Vec<String> }
    /// # async fn search(_: &Report) -> ReportUpdate { Report::update().notes(["found it".to_owned()]) }
    /// # async fn check(_: &Report) -> ReportUpdate { Report::update() }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> superstep::Result<()> {
    /// # let inner = StateGraph::<Report>::new().edge(START, search).edge(search, check).edge(check, END).interrupt_before(check).compile()?;
    /// # let research = inner.as_node("research");
    /// let graph = StateGraph::<Report>::new().edge(START, &research).edge(&research, END).compile()?;
    /// let thread = graph.with_checkpointer(MemoryCheckpointer::default()).thread("17");
    /// thread.run(Report::input()).await?;
    ///
    /// let calls = thread.calls(None).await?;
    /// assert_eq!((calls[0].namespace.as_str(), calls[0].next[0].as_str()), ("research", "check"));
    /// assert_eq!(calls[0].state, Some(serde_json::json!({ "notes": ["found it"] })));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`state`](Self::state), and [`NoCheckpoint`](crate::ErrorKind::NoCheckpoint) if the checkpoint does not exist. A call
    /// whose state this program cannot read is returned without it.
    ///
    /// # Cancel safety
    /// Cancel safe: the call only reads.
    pub async fn calls(&self, at: impl Into<Option<CheckpointId>>) -> Result<Vec<CallSnapshot>, Error> {
        calls(self.erased(), at.into()).await
    }

    /// Returns the checkpoints of the subgraph calls in a namespace, newest first.
    ///
    /// The namespace is that of a [`CallSnapshot`]. Several calls may have used it, one after the other. The tasks of a
    /// superstep that was applied are [`Finished`](super::TaskStatus::Finished).
    pub fn call_history(&self, namespace: impl AsRef<str>) -> CallHistory {
        let query = CheckpointQuery::new(Arc::clone(&self.name)).namespace(namespace.as_ref());
        CallHistory {
            thread: self.erased(),
            query,
            remaining: None,
            newer: None,
            ended: namespace.as_ref().is_empty(),
        }
    }
}

/// The checkpoints of subgraph calls, newest first. Made by [`Thread::call_history`].
///
/// Await it for all snapshots at once, or read it [page by page](Self::next_page). Awaiting it fails like
/// [`Thread::calls`], and only reads.
#[must_use = "a history does nothing until it is awaited"]
pub struct CallHistory {
    thread: ErasedThread,
    query: CheckpointQuery,
    remaining: Option<usize>,
    /// The last checkpoint of the previous page.
    newer: Option<Checkpoint>,
    ended: bool,
}

impl CallHistory {
    /// Selects the checkpoints before this one.
    pub fn before(mut self, checkpoint: CheckpointId) -> Self {
        self.query.before = Some(checkpoint);
        self
    }

    /// Limits the number of checkpoints.
    pub fn limit(mut self, limit: usize) -> Self {
        self.remaining = Some(limit);
        self
    }

    /// Returns the next page of snapshots, or an empty list at the end.
    ///
    /// # Errors
    /// As [`Thread::calls`].
    ///
    /// # Cancel safety
    /// Cancel safe: after a dropped call, the next call returns the same page.
    pub async fn next_page(&mut self) -> Result<Vec<CallSnapshot>, Error> {
        let graph = Arc::clone(&self.thread.graph.graph.0);
        caught(&graph.name, self.page()).await
    }

    async fn page(&mut self) -> Result<Vec<CallSnapshot>, Error> {
        if self.ended {
            return Ok(Vec::new());
        }
        let limit = self.remaining.unwrap_or(PAGE).min(PAGE);
        let store = &self.thread.graph.store;
        let page = store.list(self.query.clone().limit(limit)).await;
        let page = page.map_err(|error| self.thread.graph.error(error))?;
        let reader = CallReader::without_heads(&self.thread);
        let mut snapshots = Vec::with_capacity(page.items.len());
        let mut around: Option<(CheckpointId, CallParent<'_>)> = None;
        let mut newer = match (&self.newer, self.query.before, page.items.first()) {
            (None, Some(_), Some(first)) => self.next_after(first.id).await?,
            (newer, ..) => newer.clone(),
        };
        for checkpoint in &page.items {
            let applied = newer.is_some_and(|newer| is_applied_by(checkpoint, &newer));
            newer = Some(checkpoint.clone());
            let Some(task) = reader.parent_task(checkpoint)? else { continue };
            let outer = parent_of(&self.query.namespace);
            if around.as_ref().is_none_or(|(at, _)| *at != task.state_at()) {
                around = Some((task.state_at(), reader.level(outer, task.state_at()).await?));
            }
            // A checkpoint may have been pruned since the page was listed.
            let Some(stored) = reader.get(&self.query.namespace, checkpoint.id).await? else { continue };
            if let Some((_, level)) = &around {
                snapshots.push(reader.call(level, &self.query.namespace, &task, stored, applied)?.0);
            }
        }
        if let Some(remaining) = &mut self.remaining {
            *remaining = remaining.saturating_sub(page.items.len());
        }
        self.newer = newer;
        self.ended = !page.more || page.items.is_empty() || self.remaining == Some(0);
        if let Some(last) = page.items.last() {
            self.query.before = Some(last.id);
        }
        Ok(snapshots)
    }

    /// Returns the checkpoint that follows this one in the namespace.
    async fn next_after(&self, id: CheckpointId) -> Result<Option<Checkpoint>, Error> {
        let query = self.query.clone().before(None).after(id).oldest_first(true).limit(1);
        let page = self.thread.graph.store.list(query).await;
        Ok(page.map_err(|error| self.thread.graph.error(error))?.items.pop())
    }
}

impl IntoFuture for CallHistory {
    type Output = Result<Vec<CallSnapshot>, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(mut self) -> Self::IntoFuture {
        Box::pin(async move {
            let mut all = Vec::new();
            while !self.ended {
                all.extend(self.next_page().await?);
            }
            Ok(all)
        })
    }
}

impl std::fmt::Debug for CallHistory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CallHistory").field("query", &self.query).finish_non_exhaustive()
    }
}

// Boxed, so that the future is compiled in this crate.
fn calls(thread: ErasedThread, at: Option<CheckpointId>) -> Boxed<'static, Vec<CallSnapshot>> {
    Box::pin(async move {
        let graph = Arc::clone(&thread.graph.graph.0);
        let all = async {
            let loaded = read(&thread, at).await?;
            require_checkpoint(&thread, &loaded, at)?;
            let Some(stored) = loaded.found else { return Ok(Vec::new()) };
            let reader = CallReader::new(&thread).await?;
            let root = reader.root(stored)?;
            reader.calls_of(&root).await
        };
        caught(&graph.name, all).await
    })
}
