use std::collections::HashSet;

use super::associated_data::{AssociatedData, Location};
use super::keys::Keys;
use super::seal::{OpenError, open};
use crate::checkpoint::{
    ChangeKind, Checkpoint, CheckpointError, CheckpointId, CorruptCheckpoint, HistoryEntry, StoredCheckpoint,
    StoredField, TaskRecord,
};
use crate::payload::Payload;

/// Decrypts values of a namespace of a thread, and checks that they belong to their locations.
#[derive(Clone, Copy)]
pub(super) struct Opener<'a> {
    pub(super) keys: &'a Keys,
    pub(super) thread: &'a str,
    pub(super) namespace: &'a str,
    pub(super) origin: &'a str,
}

impl Opener<'_> {
    /// Opens a checkpoint with its fields and records.
    pub(super) fn stored(&self, stored: StoredCheckpoint) -> Result<StoredCheckpoint, CheckpointError> {
        let StoredCheckpoint { checkpoint, fields, records } = stored;
        let entry = self.entry(HistoryEntry { checkpoint, records, base: None, fields })?;
        let HistoryEntry { checkpoint, records, fields, .. } = entry;
        Ok(StoredCheckpoint { checkpoint, fields, records })
    }

    /// Opens an entry of a history.
    pub(super) fn entry(&self, entry: HistoryEntry) -> Result<HistoryEntry, CheckpointError> {
        let HistoryEntry { checkpoint, mut records, base, mut fields } = entry;
        let checkpoint = self.checkpoint(checkpoint)?;
        let id = checkpoint.id;
        let mut names = HashSet::new();
        for field in &mut fields {
            self.field(id, base, field)?;
            if !names.insert(field.field.clone()) {
                return Err(self.corrupt(id, field_name(field), "it occurs twice"));
            }
        }
        for record in &mut records {
            let opened = self.payload(&self.location(id).record(&record.key), &record.payload);
            record.payload = opened.map_err(|error| self.corrupt(id, record_name(record), error))?;
        }
        if let Some([_, second]) = records.array_windows().find(|[one, other]| one.key >= other.key) {
            return Err(self.corrupt(id, record_name(second), "it is out of order or occurs twice"));
        }
        Ok(HistoryEntry { checkpoint, records, base, fields })
    }

    /// Opens a page of a history, and checks that each base is an older checkpoint of the page.
    pub(super) fn entries(&self, entries: Vec<HistoryEntry>) -> Result<Vec<HistoryEntry>, CheckpointError> {
        let listed: HashSet<CheckpointId> = entries.iter().map(|entry| entry.checkpoint.id).collect();
        let open = |entry: HistoryEntry| {
            let id = entry.checkpoint.id;
            match entry.base {
                Some(base) if base >= id || !listed.contains(&base) => {
                    let part = "the checkpoint".to_owned();
                    Err(self.corrupt(id, part, "its changes are relative to an unknown checkpoint"))
                }
                _ => self.entry(entry),
            }
        };
        entries.into_iter().map(open).collect()
    }

    /// Opens a checkpoint without its fields and records.
    pub(super) fn checkpoint(&self, mut checkpoint: Checkpoint) -> Result<Checkpoint, CheckpointError> {
        let data = self.location(checkpoint.id).plan(&checkpoint);
        let sealed = checkpoint.progress.as_ref().ok_or(OpenError::NotEncrypted);
        let opened = sealed.and_then(|sealed| open(self.keys, &data, sealed));
        checkpoint.progress =
            opened.map_err(|error| self.corrupt(checkpoint.id, "the plan".to_owned(), error))?;
        Ok(checkpoint)
    }

    /// Opens the changes of a field after `base`.
    fn field(
        &self,
        read_at: CheckpointId,
        base: Option<CheckpointId>,
        stored: &mut StoredField,
    ) -> Result<(), CheckpointError> {
        let StoredField { field, changes } = &mut *stored;
        let mut last = base;
        let mut is_first = true;
        let mut problem = None;
        for group in changes.chunk_by_mut(|one, other| one.checkpoint == other.checkpoint) {
            let count = group.len();
            for (position, change) in group.iter_mut().enumerate() {
                let location = self.location(change.checkpoint);
                let hides_others = change.kind == ChangeKind::Value && (!is_first || position > 0);
                // In a history, the changes that a later value hides may be there or not.
                if hides_others && (base.is_none() || position > 0) {
                    problem = Some("a whole value follows other changes");
                }
                let data = location.change(field, change.kind, position, count);
                change.payload = self
                    .payload(&data, &change.payload)
                    .map_err(|error| self.corrupt(change.checkpoint, format!("field `{field}`"), error))?;
            }
            let group_checkpoint = group.first().map(|change| change.checkpoint);
            if group_checkpoint <= last {
                problem = Some("its changes are out of order");
            } else if group_checkpoint > Some(read_at) {
                problem = Some("it has a change of a later checkpoint");
            }
            last = group_checkpoint;
            is_first = false;
        }
        match problem {
            Some(reason) => Err(self.corrupt(read_at, field_name(stored), reason)),
            None => Ok(()),
        }
    }

    fn payload(&self, data: &AssociatedData, sealed: &Payload) -> Result<Payload, OpenError> {
        // Only a plan may be empty, and a plan does not open at the location of another value.
        open(self.keys, data, sealed)?.ok_or(OpenError::Truncated)
    }

    fn location(&self, checkpoint: CheckpointId) -> Location<'_> {
        Location { origin: self.origin, namespace: self.namespace, checkpoint }
    }

    pub(super) fn corrupt(
        &self,
        checkpoint: CheckpointId,
        part: String,
        reason: impl ToString,
    ) -> CheckpointError {
        corrupt(self.thread, self.namespace, Some(checkpoint), part, reason)
    }
}

pub(super) fn corrupt(
    thread: &str,
    namespace: &str,
    checkpoint: Option<CheckpointId>,
    part: String,
    reason: impl ToString,
) -> CheckpointError {
    CheckpointError::corrupt(CorruptCheckpoint::new(thread, namespace, checkpoint, part, reason.to_string()))
}

fn field_name(stored: &StoredField) -> String {
    format!("field `{}`", stored.field)
}

fn record_name(record: &TaskRecord) -> String {
    let key = &record.key;
    format!("the {:?} record `{}` of task {}", key.kind, key.key, key.task)
}
