use crate::checkpoint::{BatchWrite, ChangeKind, FieldChange, NewCheckpoint, StoredStatus};

/// The checkpoints that durability `Exit` defers, merged into one: the last checkpoint with the changes of all.
///
/// A checkpoint that is needed later is [kept](Self::keep) apart from those after it.
#[derive(Debug, Default)]
pub(super) struct Held {
    kept: Vec<BatchWrite>,
    /// `true` if the next checkpoint is not merged into the last one.
    keeps: bool,
    last: Option<Box<NewCheckpoint>>,
    /// Changes by field, with the fields in the order of their first writes.
    fields: Vec<Vec<FieldChange>>,
    /// The status of the thread after them.
    pub(super) status: Option<StoredStatus>,
}

impl Held {
    /// Takes a write that has to be deferred, and returns any other.
    ///
    /// Records of the deferred checkpoint are merged into it. Records of a stored checkpoint are returned.
    pub(super) fn take_in(&mut self, write: BatchWrite) -> Option<BatchWrite> {
        match write {
            BatchWrite::Checkpoint(new) => {
                self.add(new);
                None
            }
            BatchWrite::Records { checkpoint, remove, put, .. } => match &mut self.last {
                Some(held) if held.checkpoint.id == checkpoint => {
                    held.records.retain(|record| {
                        !remove.contains(&record.key) && !put.iter().any(|new| new.key == record.key)
                    });
                    held.records.extend(put);
                    None
                }
                _ => Some(BatchWrite::records(checkpoint, remove, put)),
            },
        }
    }

    /// Keeps the last checkpoint as it is. It is stored too if a later one is.
    pub(super) fn keep(&mut self) {
        self.keeps = self.last.is_some();
    }

    /// Takes the deferred checkpoints.
    pub(super) fn release(&mut self) -> Vec<BatchWrite> {
        let mut writes = std::mem::take(&mut self.kept);
        writes.extend(self.merged());
        self.keeps = false;
        writes
    }

    /// Takes the merged checkpoint.
    fn merged(&mut self) -> Option<BatchWrite> {
        let mut last = self.last.take()?;
        last.changes = std::mem::take(&mut self.fields).into_iter().flatten().collect();
        Some(BatchWrite::Checkpoint(last))
    }

    fn add(&mut self, mut new: Box<NewCheckpoint>) {
        if std::mem::take(&mut self.keeps) {
            let kept = self.merged();
            self.kept.extend(kept);
        }
        if let Some(held) = &self.last {
            new.checkpoint.parent = held.checkpoint.parent;
        }
        for piece in std::mem::take(&mut new.changes) {
            let known = self
                .fields
                .iter_mut()
                .find(|pieces| pieces.first().is_some_and(|first| first.field == piece.field));
            match (known, piece.kind) {
                (None, _) => self.fields.push(vec![piece]),
                (Some(pieces), ChangeKind::Delta) => pieces.push(piece),
                // A whole value replaces all earlier changes.
                (Some(pieces), ChangeKind::Value) => *pieces = vec![piece],
            }
        }
        self.last = Some(new);
    }
}
