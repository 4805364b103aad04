use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;

use serde_json::Value;

use crate::checkpoint::{CheckpointId, CheckpointQuery, CheckpointSource};
use crate::engine::caught;
use crate::error::Error;
use crate::state::GraphState;

use super::load::load;
use super::{Snapshot, Thread};

/// The checkpoints of a thread, newest first. Made by [`Thread::history`].
///
/// Await it for all snapshots at once, or read it [page by page](Self::next_page). Awaiting it fails like
/// [`Thread::state`], and only reads.
#[must_use = "a history does nothing until it is awaited"]
#[derive(Debug)]
pub struct History<S: GraphState, D = ()> {
    thread: Thread<S, D>,
    query: CheckpointQuery,
    remaining: Option<usize>,
    ended: bool,
}

/// The number of snapshots in a page.
const PAGE: usize = 64;

impl<S: GraphState, D: Send + Sync + 'static> History<S, D> {
    pub(super) fn new(thread: Thread<S, D>) -> Self {
        let query = CheckpointQuery::new(Arc::clone(&thread.name));
        Self { thread, query, remaining: None, ended: false }
    }

    /// Selects the checkpoints of runs and resumptions whose metadata has this key with exactly this value.
    ///
    /// Several filters must all match.
    pub fn filter(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.query.metadata.insert(key.into(), value.into());
        self
    }

    /// Selects the checkpoints of this source.
    pub fn source(mut self, source: CheckpointSource) -> Self {
        self.query.source = Some(source);
        self
    }

    /// Selects the checkpoints of the run with this id, including those of its resumptions.
    pub fn run_id(mut self, id: impl AsRef<str>) -> Self {
        self.query.run = Some(id.as_ref().into());
        self
    }

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
    /// As [`Thread::state`].
    ///
    /// # Cancel safety
    /// Cancel safe: after a dropped call, the next call returns the same page.
    pub async fn next_page(&mut self) -> Result<Vec<Snapshot<S>>, Error> {
        if self.ended {
            return Ok(Vec::new());
        }
        let limit = self.remaining.unwrap_or(PAGE).min(PAGE);
        let query = self.query.clone().limit(limit);
        let graph = &self.thread.graph;
        let listed = async { graph.erased.store.list(query).await.map_err(|error| graph.error(error)) };
        let page = caught(graph.graph().name(), listed).await?;
        let mut snapshots = Vec::with_capacity(page.items.len());
        for checkpoint in &page.items {
            // A checkpoint may have been pruned since the page was listed.
            snapshots.extend(load(self.thread.erased(), Some(checkpoint.id)).await?);
        }
        if let Some(remaining) = &mut self.remaining {
            *remaining = remaining.saturating_sub(page.items.len());
        }
        self.ended = !page.more || page.items.is_empty() || self.remaining == Some(0);
        if let Some(last) = page.items.last() {
            self.query.before = Some(last.id);
        }
        Ok(snapshots)
    }
}

impl<S: GraphState, D: Send + Sync + 'static> IntoFuture for History<S, D> {
    type Output = Result<Vec<Snapshot<S>>, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(mut self) -> Self::IntoFuture {
        Box::pin(async move {
            let compiled = Arc::clone(&self.thread.graph.graph().0);
            let all = async {
                let mut all = Vec::new();
                while !self.ended {
                    all.extend(self.next_page().await?);
                }
                Ok(all)
            };
            caught(&compiled.name, all).await
        })
    }
}
