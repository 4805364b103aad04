use crate::checkpoint::{BatchWrite, ChangeKind, FieldChange, NewCheckpoint};

/// Checkpoints that durability `exit` holds back, as one: the last of them, with what all of them have changed.
#[derive(Debug, Default)]
pub(super) struct Held {
    last: Option<Box<NewCheckpoint>>,
    /// The pieces by field; fields in the order in which they were first written.
    fields: Vec<Vec<FieldChange>>,
}

impl Held {
    /// Takes a write in, if it is one to be held back; gives back one that is not.
    ///
    /// What is known of the tasks of a checkpoint that is held back is kept with it; of one that is stored, not here.
    pub(super) fn take_in(&mut self, write: BatchWrite) -> Option<BatchWrite> {
        match write {
            BatchWrite::Checkpoint(new) => {
                self.add(new);
                None
            }
            BatchWrite::Records { checkpoint, remove, put } => match &mut self.last {
                Some(held) if held.checkpoint.id == checkpoint => {
                    held.records.retain(|record| {
                        !remove.contains(&record.key) && !put.iter().any(|new| new.key == record.key)
                    });
                    held.records.extend(put);
                    None
                }
                _ => Some(BatchWrite::Records { checkpoint, remove, put }),
            },
        }
    }

    /// Everything that was held back.
    pub(super) fn release(&mut self) -> Option<BatchWrite> {
        let mut last = self.last.take()?;
        last.changes = std::mem::take(&mut self.fields).into_iter().flatten().collect();
        Some(BatchWrite::Checkpoint(last))
    }

    fn add(&mut self, mut new: Box<NewCheckpoint>) {
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
                // Nothing before a whole value matters.
                (Some(pieces), ChangeKind::Value) => *pieces = vec![piece],
            }
        }
        self.last = Some(new);
    }
}
