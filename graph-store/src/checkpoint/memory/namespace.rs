use std::collections::BTreeMap;

use super::line::{LineId, Lines};
use crate::checkpoint::{
    BatchWrite, Checkpoint, CheckpointError, CheckpointId, NewCheckpoint, RecordKey, StoredCheckpoint,
    TaskRecord, WriteBatch,
};
use crate::payload::Payload;

/// A namespace: its checkpoints in the order of their ids, and what they wrote.
#[derive(Clone, Default)]
pub(super) struct Namespace {
    pub(super) entries: Vec<Entry>,
    pub(super) lines: Lines,
}

/// A checkpoint with what is known of its tasks.
#[derive(Clone)]
pub(super) struct Entry {
    pub(super) checkpoint: Checkpoint,
    pub(super) line: LineId,
    pub(super) records: BTreeMap<RecordKey, Payload>,
}

impl Namespace {
    /// The newest checkpoint; it has the greatest id, and pruning never takes it.
    pub(super) fn head(&self) -> Option<&Checkpoint> {
        self.entries.last().map(|entry| &entry.checkpoint)
    }

    /// Whether something is left to run at the newest checkpoint.
    pub(super) fn is_unfinished(&self) -> bool {
        self.entries.last().is_some_and(|head| {
            !head.checkpoint.next.is_empty() || head.records.keys().any(RecordKey::adds_a_node)
        })
    }

    pub(super) fn head_id(&self) -> Option<CheckpointId> {
        self.head().map(|head| head.id)
    }

    /// How many checkpoints have a smaller id.
    pub(super) fn before(&self, id: CheckpointId) -> usize {
        self.entries.partition_point(|entry| entry.checkpoint.id < id)
    }

    fn place(&self, id: CheckpointId) -> Option<usize> {
        // Nearly always it is the head that is meant: to be followed, or to be told of its tasks.
        let place = if self.head_id() == Some(id) { self.entries.len() - 1 } else { self.before(id) };
        self.entries.get(place).filter(|entry| entry.checkpoint.id == id).map(|_| place)
    }

    pub(super) fn entry(&self, id: CheckpointId) -> Option<&Entry> {
        self.place(id).and_then(|place| self.entries.get(place))
    }

    fn entry_mut(&mut self, id: CheckpointId) -> Option<&mut Entry> {
        self.place(id).and_then(|place| self.entries.get_mut(place))
    }

    /// Whether all writes of a batch can be made.
    pub(super) fn check(&self, batch: &WriteBatch) -> Result<(), CheckpointError> {
        let invalid = |what: String| Err(CheckpointError::Invalid { thread: batch.thread.clone(), what });
        let mut head = self.head_id();
        let mut added = Vec::new();
        for write in &batch.writes {
            let there = |id: CheckpointId| added.binary_search(&id).is_ok() || self.entry(id).is_some();
            match write {
                BatchWrite::Checkpoint(new) => {
                    let Checkpoint { id, parent, .. } = new.checkpoint;
                    if let Some(head) = head.filter(|head| *head >= id) {
                        return invalid(format!("checkpoint {id} does not sort behind {head}"));
                    }
                    if let Some(parent) = parent.filter(|parent| !there(*parent)) {
                        return invalid(format!("checkpoint {id} follows {parent}, which is not there"));
                    }
                    head = Some(id);
                    added.push(id);
                }
                BatchWrite::Records { checkpoint, .. } if !there(*checkpoint) => {
                    return invalid(format!("records are of checkpoint {checkpoint}, which is not there"));
                }
                BatchWrite::Records { .. } => {}
            }
        }
        Ok(())
    }

    /// Makes writes that [`check`](Self::check) has let pass.
    pub(super) fn write(&mut self, writes: Vec<BatchWrite>) {
        for write in writes {
            match write {
                BatchWrite::Checkpoint(new) => self.add(*new),
                BatchWrite::Records { checkpoint, remove, put } => {
                    let Some(entry) = self.entry_mut(checkpoint) else { continue };
                    for key in remove {
                        entry.records.remove(&key);
                    }
                    entry.records.extend(put.into_iter().map(|record| (record.key, record.payload)));
                }
            }
        }
    }

    fn add(&mut self, new: NewCheckpoint) {
        let NewCheckpoint { checkpoint, changes: pieces, records } = new;
        let parent =
            checkpoint.parent.and_then(|id| self.entry(id)).map(|entry| (entry.line, entry.checkpoint.id));
        let line = self.lines.after(parent);
        self.lines.append(line, checkpoint.id, pieces);
        let records = records.into_iter().map(|record| (record.key, record.payload)).collect();
        self.entries.push(Entry { checkpoint, line, records });
    }

    /// A checkpoint, the head if none is named, with everything that its values are made of.
    pub(super) fn load(&self, id: Option<CheckpointId>) -> Option<StoredCheckpoint> {
        let entry = match id {
            Some(id) => self.entry(id)?,
            None => self.entries.last()?,
        };
        let record = |(key, payload): (&RecordKey, &Payload)| TaskRecord {
            key: key.clone(),
            payload: payload.clone(),
        };
        Some(StoredCheckpoint {
            checkpoint: entry.checkpoint.clone(),
            fields: self.lines.fields(entry.line, entry.checkpoint.id),
            records: entry.records.iter().map(record).collect(),
        })
    }
}
