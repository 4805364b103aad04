use std::borrow::Cow;
use std::collections::HashMap;

use super::keys::Keys;
use super::place::Place;
use super::seal::seal;
use crate::checkpoint::{
    BatchWrite, ChangeKind, CheckpointError, CheckpointId, FieldChange, NewCheckpoint, TaskRecord, WriteBatch,
};

/// Encrypts every payload of a batch.
pub(super) fn seal_batch(keys: &Keys, batch: &mut WriteBatch) -> Result<(), CheckpointError> {
    let WriteBatch { origin, namespace, writes, .. } = batch;
    let sealer = |checkpoint: CheckpointId| Sealer { keys, place: Place { origin, namespace, checkpoint } };
    for write in writes {
        match write {
            BatchWrite::Checkpoint(new) => sealer(new.checkpoint.id).checkpoint(new)?,
            BatchWrite::Records { checkpoint, put, .. } => sealer(*checkpoint).records(put)?,
        }
    }
    Ok(())
}

/// Encrypts what stands at one checkpoint.
struct Sealer<'a> {
    keys: &'a Keys,
    place: Place<'a>,
}

impl Sealer<'_> {
    fn checkpoint(&self, new: &mut NewCheckpoint) -> Result<(), CheckpointError> {
        let NewCheckpoint { checkpoint, changes: pieces, records } = new;
        // Also where there is none, so that a checkpoint's plan is never without proof.
        let bound = self.place.plan(checkpoint);
        checkpoint.progress = Some(seal(self.keys, &bound, checkpoint.progress.as_ref())?);
        self.pieces(pieces)?;
        self.records(records)
    }

    fn pieces(&self, pieces: &mut Vec<FieldChange>) -> Result<(), CheckpointError> {
        // A whole value hides what its own checkpoint wrote before it. Nobody reads that, so nobody could tell how much of
        // it there was: it is not stored.
        let mut live: HashMap<Cow<'static, str>, Live> = HashMap::new();
        for (index, piece) in pieces.iter().enumerate() {
            let live = live.entry(piece.field.clone()).or_default();
            if piece.kind == ChangeKind::Value {
                *live = Live { from: index, count: 0, sealed: 0 };
            }
            live.count += 1;
        }
        let mut index = 0;
        pieces.retain(|piece| {
            index += 1;
            live.get(&piece.field).is_some_and(|live| index > live.from)
        });
        for FieldChange { field, kind, payload } in pieces {
            let Some(live) = live.get_mut(field) else { continue };
            let bound = self.place.piece(field, *kind, live.sealed, live.count);
            *payload = seal(self.keys, &bound, Some(payload))?;
            live.sealed += 1;
        }
        Ok(())
    }

    fn records(&self, records: &mut [TaskRecord]) -> Result<(), CheckpointError> {
        for TaskRecord { key, payload } in records {
            *payload = seal(self.keys, &self.place.record(key), Some(payload))?;
        }
        Ok(())
    }
}

/// The pieces of one field in one checkpoint that can be read.
#[derive(Default)]
struct Live {
    /// The place of the first among all pieces.
    from: usize,
    count: usize,
    sealed: usize,
}
