use std::borrow::Cow;
use std::collections::HashMap;

use super::associated_data::Location;
use super::keys::Keys;
use super::seal::seal;
use crate::checkpoint::{
    BatchWrite, ChangeKind, CheckpointError, CheckpointId, FieldChange, NewCheckpoint, TaskRecord, WriteBatch,
};

/// Encrypts every payload of a batch.
pub(super) fn seal_batch(keys: &Keys, batch: &mut WriteBatch) -> Result<(), CheckpointError> {
    let WriteBatch { origin, namespace, writes, .. } = batch;
    let sealer =
        |checkpoint: CheckpointId| Sealer { keys, location: Location { origin, namespace, checkpoint } };
    for write in writes {
        match write {
            BatchWrite::Checkpoint(new) => sealer(new.checkpoint.id).checkpoint(new)?,
            BatchWrite::Records { checkpoint, put, .. } => sealer(*checkpoint).records(put)?,
            BatchWrite::RollBack { .. } => {}
        }
    }
    Ok(())
}

/// Encrypts the values of one checkpoint.
struct Sealer<'a> {
    keys: &'a Keys,
    location: Location<'a>,
}

impl Sealer<'_> {
    fn checkpoint(&self, new: &mut NewCheckpoint) -> Result<(), CheckpointError> {
        let NewCheckpoint { checkpoint, changes, records } = new;
        // A checkpoint without `progress` gets an empty sealed value, so that its plan is always authenticated.
        let data = self.location.plan(checkpoint);
        checkpoint.progress = Some(seal(self.keys, &data, checkpoint.progress.as_ref())?);
        self.changes(changes)?;
        self.records(records)
    }

    fn changes(&self, changes: &mut Vec<FieldChange>) -> Result<(), CheckpointError> {
        // A whole value hides earlier changes of its own checkpoint. No read sees the hidden ones, so their number
        // could not be checked: they are not stored.
        let mut visible: HashMap<Cow<'static, str>, VisibleChanges> = HashMap::new();
        for (index, change) in changes.iter().enumerate() {
            let visible = visible.entry(change.field.clone()).or_default();
            if change.kind == ChangeKind::Value {
                *visible = VisibleChanges { first: index, count: 0, sealed: 0 };
            }
            visible.count += 1;
        }
        let mut index = 0;
        changes.retain(|change| {
            index += 1;
            visible.get(&change.field).is_some_and(|visible| index > visible.first)
        });
        for FieldChange { field, kind, payload } in changes {
            let Some(visible) = visible.get_mut(field) else { continue };
            let data = self.location.change(field, *kind, visible.sealed, visible.count);
            *payload = seal(self.keys, &data, Some(payload))?;
            visible.sealed += 1;
        }
        Ok(())
    }

    fn records(&self, records: &mut [TaskRecord]) -> Result<(), CheckpointError> {
        for TaskRecord { key, payload } in records {
            *payload = seal(self.keys, &self.location.record(key), Some(payload))?;
        }
        Ok(())
    }
}

/// The visible changes of one field in one checkpoint.
#[derive(Default)]
struct VisibleChanges {
    /// The index of the first one among all changes of the checkpoint.
    first: usize,
    count: usize,
    sealed: usize,
}
