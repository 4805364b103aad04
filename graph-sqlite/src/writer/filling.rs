use rusqlite::Connection;
use superstep_store::checkpoint::{ChangeKind, CheckpointId, FieldChange};

use crate::chunk::Chunk;
use crate::trouble::Trouble;

use super::known::Namespace;
use super::pieces::{fits, store};

/// What a batch says of fields, on its way into rows: many checkpoints of one batch share a row.
#[derive(Debug)]
pub(super) struct Filling<'b> {
    /// The line that all of it is on.
    line: i64,
    rows: Vec<(&'b str, Chunk)>,
}

impl<'b> Filling<'b> {
    pub(super) fn new(line: i64) -> Self {
        Self { line, rows: Vec::new() }
    }

    pub(super) fn line(&self) -> i64 {
        self.line
    }

    /// Takes in what the line's next checkpoint says. What one checkpoint says of a field stays in one row.
    pub(super) fn push(
        &mut self,
        db: &Connection,
        namespace: &mut Namespace,
        checkpoint: CheckpointId,
        pieces: &'b [FieldChange],
    ) -> Result<(), Trouble> {
        for piece in pieces {
            let place = match self.rows.iter().position(|(field, _)| *field == piece.field) {
                Some(place) => place,
                None => {
                    self.rows.push((&piece.field, Chunk::default()));
                    self.rows.len() - 1
                }
            };
            let Some((field, chunk)) = self.rows.get_mut(place) else { continue };
            let value = piece.kind == ChangeKind::Value;
            if value {
                // What the same checkpoint had said before can be seen from nowhere.
                chunk.take_back(checkpoint);
            }
            let goes_on = chunk.last().is_some_and(|last| last.checkpoint == checkpoint);
            let joins = !value && !chunk.is_whole() && fits(chunk, 1, piece.payload.len() + 1);
            if chunk.len() > 0 && !goes_on && !joins {
                store(db, namespace, self.line, field, chunk)?;
                chunk.clear();
            }
            chunk.push(checkpoint, piece.kind, &piece.payload);
        }
        Ok(())
    }

    /// Writes the rows.
    pub(super) fn finish(&mut self, db: &Connection, namespace: &mut Namespace) -> Result<(), Trouble> {
        for (field, chunk) in self.rows.drain(..) {
            store(db, namespace, self.line, field, &chunk)?;
        }
        Ok(())
    }
}
