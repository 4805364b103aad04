use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::branch::{BranchId, Branches};
use crate::checkpoint::{
    Checkpoint, CheckpointId, NewCheckpoint, RecordKey, RecordKind, StoredCheckpoint, TaskRecord,
};
use crate::payload::Payload;

/// A namespace: its checkpoints in the order of their ids, and their changes by branch.
#[derive(Clone, Default)]
pub(super) struct Namespace {
    pub(super) entries: Vec<Entry>,
    pub(super) branches: Branches,
    /// The checkpoints that have accepted each request.
    requests: BTreeMap<Arc<str>, BTreeSet<CheckpointId>>,
}

/// A checkpoint with its records.
#[derive(Clone)]
pub(super) struct Entry {
    pub(super) checkpoint: Checkpoint,
    pub(super) branch: BranchId,
    pub(super) records: BTreeMap<RecordKey, Payload>,
}

impl Entry {
    pub(super) fn task_records(&self) -> Vec<TaskRecord> {
        let record = |(key, payload): (&RecordKey, &Payload)| TaskRecord {
            key: key.clone(),
            payload: payload.clone(),
        };
        self.records.iter().map(record).collect()
    }
}

impl Namespace {
    /// Returns the newest checkpoint. It has the greatest id, and pruning never drops it.
    pub(super) fn head(&self) -> Option<&Checkpoint> {
        self.entries.last().map(|entry| &entry.checkpoint)
    }

    pub(super) fn head_id(&self) -> Option<CheckpointId> {
        self.head().map(|head| head.id)
    }

    /// Returns the number of checkpoints with a smaller id.
    pub(super) fn count_before(&self, id: CheckpointId) -> usize {
        self.entries.partition_point(|entry| entry.checkpoint.id < id)
    }

    /// Returns the number of checkpoints with this id or a smaller one.
    pub(super) fn count_to(&self, id: CheckpointId) -> usize {
        self.entries.partition_point(|entry| entry.checkpoint.id <= id)
    }

    fn position(&self, id: CheckpointId) -> Option<usize> {
        // Nearly every lookup is for the head.
        let position =
            if self.head_id() == Some(id) { self.entries.len() - 1 } else { self.count_before(id) };
        self.entries.get(position).filter(|entry| entry.checkpoint.id == id).map(|_| position)
    }

    pub(super) fn entry(&self, id: CheckpointId) -> Option<&Entry> {
        self.position(id).and_then(|position| self.entries.get(position))
    }

    fn entry_mut(&mut self, id: CheckpointId) -> Option<&mut Entry> {
        self.position(id).and_then(|position| self.entries.get_mut(position))
    }

    /// Adds a checkpoint, which the batch's check has found valid.
    pub(super) fn add(&mut self, new: NewCheckpoint) {
        let NewCheckpoint { checkpoint, changes, records } = new;
        let parent =
            checkpoint.parent.and_then(|id| self.entry(id)).map(|entry| (entry.branch, entry.checkpoint.id));
        let branch = self.branches.after(parent);
        self.branches.append(branch, checkpoint.id, changes);
        for record in &records {
            self.add_request(checkpoint.id, &record.key);
        }
        let records = records.into_iter().map(|record| (record.key, record.payload)).collect();
        self.entries.push(Entry { checkpoint, branch, records });
    }

    /// Changes the records of a checkpoint.
    pub(super) fn change_records(&mut self, id: CheckpointId, remove: Vec<RecordKey>, put: Vec<TaskRecord>) {
        for key in &remove {
            self.remove_request(id, key);
        }
        for record in &put {
            self.add_request(id, &record.key);
        }
        let Some(entry) = self.entry_mut(id) else { return };
        for key in remove {
            entry.records.remove(&key);
        }
        entry.records.extend(put.into_iter().map(|record| (record.key, record.payload)));
    }

    /// Returns the checkpoints that have accepted a request, in order.
    pub(super) fn with_request(&self, key: &str) -> impl DoubleEndedIterator<Item = &Entry> {
        self.requests.get(key).into_iter().flatten().filter_map(|id| self.entry(*id))
    }

    fn add_request(&mut self, id: CheckpointId, key: &RecordKey) {
        if key.kind == RecordKind::Request {
            self.requests.entry(Arc::clone(&key.key)).or_default().insert(id);
        }
    }

    fn remove_request(&mut self, id: CheckpointId, key: &RecordKey) {
        if key.kind == RecordKind::Request
            && let Some(ids) = self.requests.get_mut(&key.key)
        {
            ids.remove(&id);
            if ids.is_empty() {
                self.requests.remove(&key.key);
            }
        }
    }

    /// Forgets the requests of a checkpoint that no longer exists.
    pub(super) fn forget_requests(&mut self, removed: &Entry) {
        for key in removed.records.keys() {
            self.remove_request(removed.checkpoint.id, key);
        }
    }

    /// Removes the checkpoints after `to`.
    pub(super) fn roll_back(&mut self, to: Option<CheckpointId>) {
        let remaining = self.entries.partition_point(|entry| Some(entry.checkpoint.id) <= to);
        let removed: Vec<_> = self.entries.drain(remaining..).collect();
        for entry in &removed {
            self.forget_requests(entry);
        }
        if let Some(to) = to {
            let removed: Vec<_> =
                removed.iter().map(|entry| (entry.branch, entry.checkpoint.parent)).collect();
            self.branches.roll_back(to, &removed);
        } else {
            self.branches = Branches::default();
        }
    }

    /// Returns a checkpoint with its fields and records. `None` means the head.
    pub(super) fn load(&self, id: Option<CheckpointId>) -> Option<StoredCheckpoint> {
        let entry = match id {
            Some(id) => self.entry(id)?,
            None => self.entries.last()?,
        };
        Some(StoredCheckpoint {
            checkpoint: entry.checkpoint.clone(),
            fields: self.branches.fields(entry.branch, entry.checkpoint.id),
            records: entry.task_records(),
        })
    }
}
