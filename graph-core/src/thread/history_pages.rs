//! A history, page by page, whatever the type of the state.

use std::sync::Arc;

use crate::checkpoint::{
    Checkpoint, CheckpointError, CheckpointId, CheckpointQuery, Checkpointer, HistoryEntry, Page,
    StoredCheckpoint, StoredField, TaskRecord,
};
use crate::engine::{AppliedBy, Compiled, PageStates, has_unrecorded_tasks, is_applied_by};
use crate::error::ErrorKind;

use super::load::{applied_by, snapshot_with, waits_for_input};
use super::raw_snapshot::RawSnapshot;

/// The greatest number of checkpoints that are read in one call.
pub(crate) const MAX_PAGE: usize = 1_000;

/// The pages of a history, newest first.
#[derive(Clone, Debug)]
pub(crate) struct HistoryPages {
    pub(crate) query: CheckpointQuery,
    /// The last entry of the page before, as the checkpoint that may have applied the superstep of the next entry.
    newer: Option<AppliedBy>,
    pub(crate) ended: bool,
}

/// A page of a history.
pub(crate) struct HistoryPage {
    pub(crate) namespace: Arc<str>,
    pub(crate) epoch: u64,
    pub(crate) entries: Vec<HistoryEntry>,
    /// For each entry, the checkpoint that has applied the superstep planned there, if it is needed.
    pub(crate) applied: Vec<Option<AppliedBy>>,
}

impl HistoryPage {
    /// Returns the snapshots of the page, for a graph with a state of its own.
    pub(crate) fn snapshots(
        self,
        graph: &Compiled,
        thread: &Arc<str>,
    ) -> Result<Vec<RawSnapshot>, ErrorKind> {
        let mut states = PageStates::new(graph, thread);
        let mut snapshots = Vec::with_capacity(self.entries.len());
        // The base of an entry is older, so the oldest comes first.
        for (entry, applied) in self.entries.into_iter().zip(self.applied).rev() {
            let HistoryEntry { checkpoint, records, base, fields, .. } = entry;
            let state = states.add(&checkpoint, &records, base, fields)?;
            let place = (&*self.namespace, self.epoch);
            let read = (checkpoint, records);
            snapshots.push(snapshot_with(graph, thread, place, read, state, applied.as_ref())?);
        }
        snapshots.reverse();
        Ok(snapshots)
    }
}

impl HistoryPage {
    /// Returns the checkpoints of the page with complete fields.
    pub(crate) fn expanded(self) -> Vec<(StoredCheckpoint, Option<AppliedBy>)> {
        Page::new(self.entries, false).expand().into_iter().zip(self.applied).collect()
    }
}

impl HistoryPages {
    pub(crate) fn new(query: CheckpointQuery) -> Self {
        Self { query, newer: None, ended: false }
    }

    /// Reads the next page, of at most `limit` entries.
    ///
    /// Makes one call for the entries and one for the epoch of the thread. Further calls are made for checkpoints whose
    /// successor the query leaves out.
    pub(crate) async fn next(
        &mut self,
        store: &dyn Checkpointer,
        limit: usize,
    ) -> Result<HistoryPage, CheckpointError> {
        let thread = Arc::clone(&self.query.thread);
        let namespace = Arc::clone(&self.query.namespace);
        let page = store.history(self.query.clone().limit(limit.min(MAX_PAGE))).await?;
        // No checkpoint has this id, so only the fence is read.
        let fence = store.get(&thread, &namespace, Some(CheckpointId::FIRST)).await?.fence;
        let mut applied = Vec::with_capacity(page.items.len());
        let mut newer = self.newer.as_ref().map(|newer| (&newer.checkpoint, newer.fields.as_slice()));
        for HistoryEntry { checkpoint, records, fields, .. } in &page.items {
            applied.push(self.applied(store, fence.head, checkpoint, records, newer).await?);
            newer = Some((checkpoint, fields));
        }
        self.newer = newer.map(|(checkpoint, fields)| changes_of(checkpoint, fields));
        self.ended = !page.more || page.items.is_empty();
        if let Some(last) = page.items.last() {
            self.query.before = Some(last.checkpoint.id);
        }
        Ok(HistoryPage { namespace, epoch: fence.epoch, entries: page.items, applied })
    }

    async fn applied(
        &self,
        store: &dyn Checkpointer,
        head: Option<CheckpointId>,
        checkpoint: &Checkpoint,
        records: &[TaskRecord],
        newer: Option<(&Checkpoint, &[StoredField])>,
    ) -> Result<Option<AppliedBy>, CheckpointError> {
        if !(has_unrecorded_tasks(checkpoint, records) || waits_for_input(checkpoint)) {
            return Ok(None);
        }
        let CheckpointQuery { thread, namespace, source, run, metadata, .. } = &self.query;
        let is_filtered = source.is_some() || run.is_some() || !metadata.is_empty();
        match newer {
            Some((newer, fields)) if is_applied_by(checkpoint, newer) => Ok(Some(changes_of(newer, fields))),
            // The next checkpoint of the namespace is listed, and has not applied this one.
            Some(_) if !is_filtered => Ok(None),
            _ => applied_by(store, thread, namespace, (checkpoint, records), head).await,
        }
    }
}

/// Returns a checkpoint with its own changes among those of a listed entry.
fn changes_of(checkpoint: &Checkpoint, fields: &[StoredField]) -> AppliedBy {
    let own = fields.iter().filter_map(|field| {
        let own = field.changes.iter().filter(|change| change.checkpoint == checkpoint.id);
        let own: Vec<_> = own.cloned().collect();
        (!own.is_empty()).then(|| StoredField::new(field.field.clone(), own))
    });
    AppliedBy { checkpoint: checkpoint.clone(), fields: own.collect() }
}
