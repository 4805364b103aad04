use rusqlite::Connection;
use superstep_store::checkpoint::{ChangeKind, CheckpointId, FieldChange};

use crate::chunk::Chunk;
use crate::error::Error;

use super::changes::{append, fits};
use super::row_cache::CachedNamespace;

/// The field changes of a batch, collected into rows: several checkpoints of a batch share a row.
#[derive(Debug)]
pub(super) struct BatchBuffer<'b> {
    /// The branch of all buffered changes.
    branch: i64,
    rows: Vec<(&'b str, Chunk)>,
}

impl<'b> BatchBuffer<'b> {
    pub(super) fn new(branch: i64) -> Self {
        Self { branch, rows: Vec::new() }
    }

    pub(super) fn branch(&self) -> i64 {
        self.branch
    }

    /// Adds the changes of the branch's next checkpoint. The changes of one checkpoint to one field stay in one row.
    pub(super) fn push(
        &mut self,
        db: &Connection,
        namespace: &mut CachedNamespace,
        checkpoint: CheckpointId,
        changes: &'b [FieldChange],
    ) -> Result<(), Error> {
        for change in changes {
            let index = match self.rows.iter().position(|(field, _)| *field == change.field) {
                Some(index) => index,
                None => {
                    self.rows.push((&change.field, Chunk::default()));
                    self.rows.len() - 1
                }
            };
            let Some((field, chunk)) = self.rows.get_mut(index) else { continue };
            let value = change.kind == ChangeKind::Value;
            if value {
                // A value hides all earlier changes of the same checkpoint.
                chunk.remove_checkpoint(checkpoint);
            }
            let continues = chunk.last().is_some_and(|last| last.checkpoint == checkpoint);
            let joins = !value && !chunk.starts_with_value() && fits(chunk, 1, change.payload.len() + 1);
            if chunk.len() > 0 && !continues && !joins {
                append(db, namespace, self.branch, field, chunk)?;
                chunk.clear();
            }
            chunk.push(checkpoint, change.kind, &change.payload);
        }
        Ok(())
    }

    /// Writes the rows.
    pub(super) fn finish(&mut self, db: &Connection, namespace: &mut CachedNamespace) -> Result<(), Error> {
        for (field, chunk) in self.rows.drain(..) {
            append(db, namespace, self.branch, field, &chunk)?;
        }
        Ok(())
    }
}
