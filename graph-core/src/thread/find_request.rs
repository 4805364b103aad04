//! Finds requests that were sent before, by their idempotency keys.

use std::sync::Arc;

use crate::checkpoint::{CheckpointId, CheckpointQuery, TaskRecord};
use crate::engine::{AppContext, StoredRequest};
use crate::erased::TaskWrites;
use crate::error::{Error, ErrorKind};

use super::AsNode;
use super::erased::{ErasedThread, Persistent};
use super::find_run::{FoundRun, find_run};
use super::request_digest;

/// A request from outside with the caller's idempotency key.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) key: Arc<str>,
    /// The digest of the contents.
    pub(crate) digest: String,
}

/// A request that the thread has accepted.
pub(crate) struct FoundRequest {
    /// The checkpoint that has accepted it.
    pub(crate) checkpoint: CheckpointId,
    /// The run of the checkpoint.
    run: Arc<str>,
    /// The run to which the tasks belong that the request has added.
    added_run: Option<Arc<str>>,
}

impl Request {
    /// Creates the request of an update of these supersteps at a checkpoint.
    pub(crate) fn update(
        key: Arc<str>,
        at: Option<CheckpointId>,
        supersteps: &[Vec<(TaskWrites, Option<AsNode>)>],
    ) -> Self {
        Self { key, digest: request_digest::of_update(at, supersteps) }
    }

    /// Returns the record of a resumption. `run` is the run of the tasks that it adds, if it adds any.
    pub(crate) fn resumption_record(&self, run: Option<Arc<str>>) -> Option<TaskRecord> {
        self.record(run, false)
    }

    /// Returns the record of an update, for the checkpoint that it has made.
    pub(crate) fn update_record(&self) -> Option<TaskRecord> {
        self.record(None, true)
    }

    fn record(&self, run: Option<Arc<str>>, made: bool) -> Option<TaskRecord> {
        let run = run.map(|run| run.to_string());
        StoredRequest { digest: self.digest.clone(), run, made }.record(&self.key)
    }

    /// Finds the checkpoint of a namespace that has accepted this request.
    ///
    /// # Errors
    /// `IdempotencyKeyReused` if another request has used the key.
    pub(crate) async fn find(
        &self,
        graph: &Persistent,
        thread: &Arc<str>,
        namespace: &Arc<str>,
    ) -> Result<Option<FoundRequest>, Error> {
        let query = CheckpointQuery::new(Arc::clone(thread)).namespace(Arc::clone(namespace));
        let page = graph.store.list(query.request(Arc::clone(&self.key)).limit(1)).await;
        let page = page.map_err(|error| graph.error(error))?;
        let Some(checkpoint) = page.items.first() else { return Ok(None) };
        let loaded = graph.store.get(thread, namespace, Some(checkpoint.id)).await;
        // The checkpoint may have been removed between the two reads.
        let Some(found) = loaded.map_err(|error| graph.error(error))?.found else { return Ok(None) };
        let stored = StoredRequest::read(thread, &found.checkpoint, &found.records, &self.key);
        let Some(stored) = stored.map_err(|kind| graph.refuse(kind))? else { return Ok(None) };
        if stored.digest != self.digest {
            let (thread, key) = (thread.to_string(), self.key.to_string());
            return Err(graph.refuse(ErrorKind::IdempotencyKeyReused { thread, key }));
        }
        let run = Arc::clone(&found.checkpoint.run.id);
        Ok(Some(FoundRequest { checkpoint: found.checkpoint.id, run, added_run: stored.run.map(Arc::from) }))
    }
}

impl FoundRequest {
    /// Finds the run that the request has continued.
    pub(super) async fn run(
        self,
        thread: &ErasedThread,
        context: &dyn AppContext,
    ) -> Result<Option<FoundRun>, Error> {
        match &self.added_run {
            Some(run) => find_run(thread, run, Some(self.checkpoint), context).await,
            None => find_run(thread, &self.run, None, context).await,
        }
    }
}
