use std::collections::{BTreeMap, HashMap};

use super::{
    ChangeKind, Checkpoint, CheckpointId, Page, StoredChange, StoredCheckpoint, StoredField, TaskRecord,
};

/// A checkpoint in a [history](super::Checkpointer::history), with its records and the changes of its fields.
///
/// The changes are relative to another entry of the same page, so that the size of a page grows linearly with the number
/// of its checkpoints.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct HistoryEntry {
    /// The checkpoint.
    pub checkpoint: Checkpoint,
    /// The records of its tasks, ordered by task, kind and key.
    pub records: Vec<TaskRecord>,
    /// An ancestor of the checkpoint in the same page, or `None` if `fields` is complete.
    pub base: Option<CheckpointId>,
    /// The changes of fields, in no particular order of the fields.
    ///
    /// - Without a base: every field with all its changes, as in [`StoredCheckpoint::fields`].
    /// - With a base: the changes that were made after the base on the path to this checkpoint, in order. A whole value among
    ///   them replaces the earlier value. Changes before the last whole value may be missing.
    pub fields: Vec<StoredField>,
}

impl HistoryEntry {
    /// Creates an entry with complete fields.
    pub fn new(checkpoint: Checkpoint, fields: Vec<StoredField>, records: Vec<TaskRecord>) -> Self {
        Self { checkpoint, records, base: None, fields }
    }

    /// Sets the checkpoint to which the changes of the fields are relative.
    #[must_use]
    pub fn base(mut self, base: impl Into<Option<CheckpointId>>) -> Self {
        self.base = base.into();
        self
    }
}

impl Page<HistoryEntry> {
    /// Returns the checkpoints of the page with complete fields, as [`get`](super::Checkpointer::get) returns them.
    ///
    /// The result contains the changes of a field once for each checkpoint that sees them, so its size may be quadratic.
    /// An entry whose base is not in the page is left out.
    pub fn expand(self) -> Vec<StoredCheckpoint> {
        let mut order: Vec<usize> = (0..self.items.len()).collect();
        order.sort_by_key(|index| self.items.get(*index).map(|entry| entry.checkpoint.id));
        let mut values: HashMap<CheckpointId, BTreeMap<String, Vec<StoredChange>>> = HashMap::new();
        // An ancestor has a smaller id.
        for entry in order.iter().filter_map(|index| self.items.get(*index)) {
            let mut fields = match entry.base {
                None => BTreeMap::new(),
                Some(base) => match values.get(&base) {
                    Some(fields) => fields.clone(),
                    None => continue,
                },
            };
            for StoredField { field, changes } in &entry.fields {
                let value = fields.entry(field.clone()).or_default();
                for change in changes {
                    if change.kind == ChangeKind::Value {
                        value.clear();
                    }
                    value.push(change.clone());
                }
            }
            values.insert(entry.checkpoint.id, fields);
        }
        let stored = |entry: HistoryEntry| {
            let fields = values.remove(&entry.checkpoint.id)?;
            let fields = fields.into_iter().map(|(field, changes)| StoredField { field, changes }).collect();
            Some(StoredCheckpoint::new(entry.checkpoint, fields, entry.records))
        };
        self.items.into_iter().filter_map(stored).collect()
    }
}
