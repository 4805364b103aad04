use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;

use serde_json::Value;

use crate::checkpoint::{CheckpointId, CheckpointQuery, CheckpointSource};
use crate::engine::caught;
use crate::error::Error;
use crate::state::GraphState;

use super::erased::Persistent;
use super::history_pages::{HistoryPages, MAX_PAGE};
use super::raw_snapshot::RawSnapshot;
use super::{Snapshot, Thread};

/// The checkpoints of a thread, newest first. Made by [`Thread::history`].
///
/// Await it for all snapshots at once, or read it [page by page](Self::next_page). Awaiting it fails like
/// [`Thread::state`], and only reads.
#[must_use = "a history does nothing until it is awaited"]
#[derive(Debug)]
pub struct History<S: GraphState, D = ()> {
    thread: Thread<S, D>,
    pages: HistoryPages,
    remaining: Option<usize>,
}

/// The number of snapshots in a page, unless the history has a limit.
const PAGE: usize = 64;

impl<S: GraphState, D: Send + Sync + 'static> Thread<S, D> {
    /// Returns the thread's checkpoints, newest first.
    pub fn history(&self) -> History<S, D> {
        let query = CheckpointQuery::new(Arc::clone(&self.name));
        History { thread: self.clone(), pages: HistoryPages::new(query), remaining: None }
    }
}

impl<S: GraphState, D: Send + Sync + 'static> History<S, D> {
    /// Selects the checkpoints of runs and resumptions whose metadata has this key with exactly this value.
    ///
    /// Several filters must all match.
    pub fn filter(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.pages.query.metadata.insert(key.into(), value.into());
        self
    }

    /// Selects the checkpoints of this source.
    pub fn source(mut self, source: CheckpointSource) -> Self {
        self.pages.query.source = Some(source);
        self
    }

    /// Selects the checkpoints of the run with this id, including those of its resumptions.
    pub fn run_id(mut self, id: impl AsRef<str>) -> Self {
        self.pages.query.run = Some(id.as_ref().into());
        self
    }

    /// Selects the checkpoints before this one.
    pub fn before(mut self, checkpoint: CheckpointId) -> Self {
        self.pages.query.before = Some(checkpoint);
        self
    }

    /// Limits the number of checkpoints.
    pub fn limit(mut self, limit: usize) -> Self {
        self.remaining = Some(limit);
        self
    }

    /// Returns the next page of snapshots, or an empty list at the end.
    ///
    /// A page has 64 snapshots, or up to 1,000 if the history has a [`limit`](Self::limit). A store may return fewer, so that
    /// a page fits into memory. A page is read in two calls to the store. A history with a filter makes two more for each
    /// snapshot whose [results](super::TaskSnapshot::result) are in a checkpoint that the filter leaves out.
    ///
    /// # Errors
    /// As [`Thread::state`].
    ///
    /// # Cancel safety
    /// Cancel safe: after a dropped call, the next call returns the same page.
    pub async fn next_page(&mut self) -> Result<Vec<Snapshot<S>>, Error> {
        let limit = if self.remaining.is_some() { MAX_PAGE } else { PAGE };
        self.page_of(limit).await
    }

    async fn page_of(&mut self, limit: usize) -> Result<Vec<Snapshot<S>>, Error> {
        let limit = self.remaining.unwrap_or(limit).min(limit);
        let graph = Arc::clone(&self.thread.persistent);
        let loaded = load_page(&graph, &mut self.pages, limit);
        let mut typed = Vec::new();
        for snapshot in caught(&graph.graph.0.name, loaded).await? {
            typed.push(snapshot.typed().map_err(|kind| graph.refuse(kind))?);
        }
        if let Some(remaining) = &mut self.remaining {
            *remaining = remaining.saturating_sub(typed.len());
            self.pages.ended |= *remaining == 0;
        }
        Ok(typed)
    }
}

/// Reads the next page of a thread's own graph, newest first.
// Boxed, so that the future is compiled in this crate.
fn load_page<'p>(
    graph: &'p Persistent,
    pages: &'p mut HistoryPages,
    limit: usize,
) -> Pin<Box<dyn Future<Output = Result<Vec<RawSnapshot>, Error>> + Send + 'p>> {
    Box::pin(async move {
        if pages.ended {
            return Ok(Vec::new());
        }
        let thread = Arc::clone(&pages.query.thread);
        // A dropped call, or one that has failed, is repeated.
        let mut next = pages.clone();
        let page = next.next(&*graph.store, limit).await.map_err(|error| graph.error(error))?;
        let snapshots = page.snapshots(&graph.graph.0, &thread).map_err(|kind| graph.refuse(kind))?;
        *pages = next;
        Ok(snapshots)
    })
}

impl<S: GraphState, D: Send + Sync + 'static> IntoFuture for History<S, D> {
    type Output = Result<Vec<Snapshot<S>>, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(mut self) -> Self::IntoFuture {
        Box::pin(async move {
            let compiled = Arc::clone(&self.thread.graph.0);
            let all = async {
                let mut all = Vec::new();
                while !self.pages.ended {
                    all.extend(self.page_of(MAX_PAGE).await?);
                }
                Ok(all)
            };
            caught(&compiled.name, all).await
        })
    }
}
