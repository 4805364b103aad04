use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;

use serde_json::Value;

use crate::checkpoint::{CheckpointId, CheckpointQuery, CheckpointSource};
use crate::error::Error;
use crate::state::GraphState;

use super::load::load;
use super::{Snapshot, Thread};

/// The checkpoints of a thread, newest first: await it for a list, or read it [page by page](Self::next_page).
#[must_use = "a history does nothing until it is awaited"]
#[derive(Debug)]
pub struct History<S: GraphState, D = ()> {
    thread: Thread<S, D>,
    query: CheckpointQuery,
    left: Option<usize>,
    ended: bool,
}

/// As many snapshots are read at a time.
const PAGE: usize = 64;

impl<S: GraphState, D: Send + Sync + 'static> History<S, D> {
    pub(super) fn new(thread: Thread<S, D>) -> Self {
        let query = CheckpointQuery { thread: Arc::clone(&thread.name), ..CheckpointQuery::default() };
        Self { thread, query, left: None, ended: false }
    }

    /// Only those of runs and resumptions that were given this metadata: the same key with exactly this value. Several all have to fit.
    pub fn filter(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.query.metadata.insert(key.into(), value.into());
        self
    }

    /// Only those of this source.
    pub fn source(mut self, source: CheckpointSource) -> Self {
        self.query.source = Some(source);
        self
    }

    /// Only those of the run of this id, with what resumptions of it have made.
    pub fn run_id(mut self, id: impl AsRef<str>) -> Self {
        self.query.run = Some(id.as_ref().into());
        self
    }

    /// Only those before this checkpoint.
    pub fn before(mut self, checkpoint: CheckpointId) -> Self {
        self.query.before = Some(checkpoint);
        self
    }

    /// At most so many.
    pub fn limit(mut self, limit: usize) -> Self {
        self.left = Some(limit);
        self
    }

    /// The next few; an empty list at the end.
    ///
    /// # Errors
    /// As [`Thread::state`].
    ///
    /// # Cancel safety
    /// A dropped call has read nothing: the next one gives the same page.
    pub async fn next_page(&mut self) -> Result<Vec<Snapshot<S>>, Error> {
        if self.ended {
            return Ok(Vec::new());
        }
        let limit = self.left.unwrap_or(PAGE).min(PAGE);
        let query = CheckpointQuery { limit: Some(limit), ..self.query.clone() };
        let graph = &self.thread.graph;
        let page = graph.0.store.list(query).await.map_err(|error| graph.error(error))?;
        let mut snapshots = Vec::with_capacity(page.items.len());
        for checkpoint in &page.items {
            // One that has been pruned meanwhile is not there any more.
            snapshots.extend(load(&self.thread, Some(checkpoint.id)).await?);
        }
        if let Some(left) = &mut self.left {
            *left = left.saturating_sub(page.items.len());
        }
        self.ended = !page.more || page.items.is_empty() || self.left == Some(0);
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
            let mut all = Vec::new();
            while !self.ended {
                all.extend(self.next_page().await?);
            }
            Ok(all)
        })
    }
}
