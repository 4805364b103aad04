use std::collections::BTreeMap;

use crate::checkpoint::{
    BatchWrite, ChangeKind, CheckpointId, FieldChange, NewCheckpoint, RecordKey, StoredStatus, TaskRecord,
};
use crate::payload::Payload;

/// The checkpoints that durability `Exit` defers, merged into one: the last checkpoint with the changes of all.
///
/// A checkpoint that is needed later is [kept](Self::keep) apart from those after it.
#[derive(Debug, Default)]
pub(crate) struct DeferredWrites {
    kept: Vec<BatchWrite>,
    /// `true` if the next checkpoint is not merged into the last one.
    keeps: bool,
    last: Option<Box<NewCheckpoint>>,
    /// The records of the last checkpoint. A fan-out has many.
    records: BTreeMap<RecordKey, Payload>,
    /// Changes by field, with the fields in the order of their first writes.
    fields: Vec<Vec<FieldChange>>,
    /// The status of the thread after them.
    pub(crate) status: Option<StoredStatus>,
}

impl DeferredWrites {
    /// Takes a write that has to be deferred, and returns any other.
    ///
    /// Records of the deferred checkpoint are merged into it. Records of a stored checkpoint are returned.
    pub(crate) fn defer(&mut self, write: BatchWrite) -> Option<BatchWrite> {
        match write {
            BatchWrite::Checkpoint(new) => {
                self.add_checkpoint(new);
                None
            }
            BatchWrite::Records { checkpoint, remove, put, .. } => match &self.last {
                Some(deferred) if deferred.checkpoint.id == checkpoint => {
                    for key in &remove {
                        self.records.remove(key);
                    }
                    self.put(put);
                    None
                }
                _ => Some(BatchWrite::records(checkpoint, remove, put)),
            },
            roll_back @ BatchWrite::RollBack { .. } => Some(roll_back),
        }
    }

    /// Keeps the last checkpoint as it is. It is stored too if a later one is.
    pub(crate) fn keep(&mut self) {
        self.keeps = self.last.is_some();
    }

    /// Returns the last checkpoint with its parent, if the next checkpoint is merged with it.
    pub(crate) fn merged_with_next(&self) -> Option<(CheckpointId, Option<CheckpointId>)> {
        let last = self.last.as_ref().filter(|_| !self.keeps)?;
        Some((last.checkpoint.id, last.checkpoint.parent))
    }

    /// Takes the deferred checkpoints.
    pub(crate) fn release(&mut self) -> Vec<BatchWrite> {
        let mut writes = std::mem::take(&mut self.kept);
        writes.extend(self.merged());
        self.keeps = false;
        writes
    }

    /// Takes the merged checkpoint.
    fn merged(&mut self) -> Option<BatchWrite> {
        let mut last = self.last.take()?;
        let records = std::mem::take(&mut self.records).into_iter();
        last.records = records.map(|(key, payload)| TaskRecord::new(key, payload)).collect();
        last.changes = std::mem::take(&mut self.fields).into_iter().flatten().collect();
        Some(BatchWrite::Checkpoint(last))
    }

    fn add_checkpoint(&mut self, mut new: Box<NewCheckpoint>) {
        if std::mem::take(&mut self.keeps) {
            let kept = self.merged();
            self.kept.extend(kept);
        }
        if let Some(deferred) = &self.last {
            new.checkpoint.parent = deferred.checkpoint.parent;
        }
        for change in std::mem::take(&mut new.changes) {
            let known = self
                .fields
                .iter_mut()
                .find(|changes| changes.first().is_some_and(|first| first.field == change.field));
            match (known, change.kind) {
                (None, _) => self.fields.push(vec![change]),
                (Some(changes), ChangeKind::Delta) => changes.push(change),
                // A whole value replaces all earlier changes.
                (Some(changes), ChangeKind::Value) => *changes = vec![change],
            }
        }
        self.records.clear();
        self.put(std::mem::take(&mut new.records));
        self.last = Some(new);
    }

    fn put(&mut self, records: Vec<TaskRecord>) {
        self.records.extend(records.into_iter().map(|TaskRecord { key, payload, .. }| (key, payload)));
    }
}
