use std::collections::HashSet;

use super::keys::Keys;
use super::place::Place;
use super::seal::{Refused, open};
use crate::checkpoint::{
    ChangeKind, Checkpoint, CheckpointError, CheckpointId, CorruptCheckpoint, StoredCheckpoint, StoredField,
    TaskRecord,
};
use crate::payload::Payload;

/// Decrypts what was read of a namespace of a thread.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    pub(super) keys: &'a Keys,
    pub(super) thread: &'a str,
    pub(super) namespace: &'a str,
    pub(super) origin: &'a str,
}

impl Reader<'_> {
    /// A checkpoint with everything that the store gave for it.
    pub(super) fn stored(&self, stored: StoredCheckpoint) -> Result<StoredCheckpoint, CheckpointError> {
        let StoredCheckpoint { checkpoint, mut fields, mut records } = stored;
        let checkpoint = self.checkpoint(checkpoint)?;
        let id = checkpoint.id;
        let mut names = HashSet::new();
        for field in &mut fields {
            self.field(id, field)?;
            if !names.insert(field.field.clone()) {
                return Err(self.corrupt(id, of_field(field), "it is there twice"));
            }
        }
        for record in &mut records {
            let opened = self.payload(&self.place(id).record(&record.key), &record.payload);
            record.payload = opened.map_err(|refused| self.corrupt(id, of_record(record), refused))?;
        }
        if let Some([_, second]) = records.array_windows().find(|[one, other]| one.key >= other.key) {
            return Err(self.corrupt(id, of_record(second), "it is not in its order, or there twice"));
        }
        Ok(StoredCheckpoint { checkpoint, fields, records })
    }

    /// A checkpoint by itself.
    pub(super) fn checkpoint(&self, mut checkpoint: Checkpoint) -> Result<Checkpoint, CheckpointError> {
        let bound = self.place(checkpoint.id).plan(&checkpoint);
        let sealed = checkpoint.progress.as_ref().ok_or(Refused::Plain);
        let opened = sealed.and_then(|sealed| open(self.keys, &bound, sealed));
        checkpoint.progress =
            opened.map_err(|refused| self.corrupt(checkpoint.id, "what is planned".to_owned(), refused))?;
        Ok(checkpoint)
    }

    fn field(&self, at: CheckpointId, stored: &mut StoredField) -> Result<(), CheckpointError> {
        let StoredField { field, changes: pieces } = &mut *stored;
        let mut last = None;
        let mut wrong = None;
        for group in pieces.chunk_by_mut(|one, other| one.checkpoint == other.checkpoint) {
            let count = group.len();
            for (position, piece) in group.iter_mut().enumerate() {
                let place = self.place(piece.checkpoint);
                let hides = piece.kind == ChangeKind::Value && (last.is_some() || position > 0);
                if hides {
                    wrong = Some("a whole value stands behind other pieces");
                }
                let bound = place.piece(field, piece.kind, position, count);
                piece.payload = self
                    .payload(&bound, &piece.payload)
                    .map_err(|refused| self.corrupt(piece.checkpoint, format!("field `{field}`"), refused))?;
            }
            let of = group.first().map(|piece| piece.checkpoint);
            if of <= last {
                wrong = Some("its pieces are not in their order");
            } else if of > Some(at) {
                wrong = Some("it has a piece of a later checkpoint");
            }
            last = of;
        }
        match wrong {
            Some(reason) => Err(self.corrupt(at, of_field(stored), reason)),
            None => Ok(()),
        }
    }

    fn payload(&self, bound: &super::place::Bound, sealed: &Payload) -> Result<Payload, Refused> {
        // Only a plan may be none, and no plan opens where something else is bound.
        open(self.keys, bound, sealed)?.ok_or(Refused::CutOff)
    }

    fn place(&self, checkpoint: CheckpointId) -> Place<'_> {
        Place { origin: self.origin, namespace: self.namespace, checkpoint }
    }

    pub(super) fn corrupt(
        &self,
        checkpoint: CheckpointId,
        what: String,
        reason: impl ToString,
    ) -> CheckpointError {
        corrupt(self.thread, self.namespace, Some(checkpoint), what, reason)
    }
}

pub(super) fn corrupt(
    thread: &str,
    namespace: &str,
    checkpoint: Option<CheckpointId>,
    what: String,
    reason: impl ToString,
) -> CheckpointError {
    let (thread, namespace, reason) = (thread.into(), namespace.into(), reason.to_string());
    CheckpointError::Corrupt(Box::new(CorruptCheckpoint { thread, namespace, checkpoint, what, reason }))
}

fn of_field(stored: &StoredField) -> String {
    format!("field `{}`", stored.field)
}

fn of_record(record: &TaskRecord) -> String {
    let key = &record.key;
    format!("the {:?} record `{}` of task {}", key.kind, key.key, key.task)
}
