use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension as _, params};
use superstep_store::checkpoint::{BatchWrite, CheckpointError, CheckpointId, Conflict, Fence, WriteBatch};

use crate::columns::IdText;
use crate::error::Error;

use super::row_cache::RowCache;

/// Refuses an invalid batch before any of it is written.
pub(super) fn check(db: &Connection, row_cache: &mut RowCache, batch: &WriteBatch) -> Result<(), Error> {
    let mut found = Fence::default();
    let mut same_origin = true;
    let mut ids = (None, None);
    if let Some(thread) = row_cache.thread(db, &batch.thread)? {
        found.epoch = thread.epoch;
        same_origin = thread.origin == batch.origin;
        ids.0 = Some(thread.id);
        if let Some(namespace) = thread.namespace(db, &batch.namespace)? {
            found.head = namespace.head.map(|(head, _)| head);
            ids.1 = Some(namespace.id);
        }
    }
    if found != batch.fence || !same_origin {
        let conflict = Conflict::new(batch.thread.clone(), batch.namespace.clone(), batch.fence, found);
        return Err(CheckpointError::conflict(conflict).into());
    }
    if batch.epoch < found.epoch {
        return Err(invalid(
            batch,
            format!("the epoch would go back from {} to {}", found.epoch, batch.epoch),
        ));
    }
    let (thread, namespace) = ids;
    let mut existing = ExistingCheckpoints {
        db,
        batch,
        thread,
        namespace,
        greatest: found.head,
        added: Vec::new(),
        rolled_back: HashMap::new(),
    };
    batch.writes.iter().try_for_each(|write| existing.write(write))
}

/// The checkpoints that exist at this point of the batch.
struct ExistingCheckpoints<'a> {
    db: &'a Connection,
    batch: &'a WriteBatch,
    thread: Option<i64>,
    /// The row of the batch's namespace.
    namespace: Option<i64>,
    greatest: Option<CheckpointId>,
    added: Vec<CheckpointId>,
    /// The namespaces that the batch has rolled back. Stored checkpoints after these ids no longer exist.
    rolled_back: HashMap<&'a str, Option<CheckpointId>>,
}

impl<'a> ExistingCheckpoints<'a> {
    fn write(&mut self, write: &'a BatchWrite) -> Result<(), Error> {
        let batch = self.batch;
        match write {
            BatchWrite::Checkpoint(new) => {
                let id = new.checkpoint.id;
                if let Some(greatest) = self.greatest.filter(|greatest| *greatest >= id) {
                    return Err(invalid(batch, format!("checkpoint {id} does not sort after {greatest}")));
                }
                if let Some(parent) = new.checkpoint.parent
                    && !self.has(parent)?
                {
                    return Err(invalid(
                        batch,
                        format!("checkpoint {id} follows {parent}, which does not exist"),
                    ));
                }
                self.greatest = Some(id);
                self.added.push(id);
            }
            BatchWrite::Records { checkpoint, .. } => {
                if !self.has(*checkpoint)? {
                    return Err(invalid(
                        batch,
                        format!("records belong to checkpoint {checkpoint}, which does not exist"),
                    ));
                }
            }
            BatchWrite::RollBack { namespace, to, .. } => self.roll_back(namespace, *to)?,
        }
        Ok(())
    }

    fn roll_back(&mut self, namespace: &'a str, to: Option<CheckpointId>) -> Result<(), Error> {
        let is_own = *namespace == *self.batch.namespace;
        if let Some(to) = to {
            let exists =
                if is_own { self.has(to)? } else { self.remains(self.row_of(namespace)?, namespace, to)? };
            if !exists {
                return Err(invalid(
                    self.batch,
                    format!("a roll back ends at checkpoint {to}, which does not exist"),
                ));
            }
        }
        if is_own {
            self.greatest = to;
            self.added.retain(|added| Some(*added) <= to);
        }
        self.rolled_back.insert(namespace, to);
        Ok(())
    }

    /// Returns `true` if the batch's namespace has the checkpoint.
    fn has(&self, id: CheckpointId) -> Result<bool, Error> {
        if self.greatest == Some(id) || self.added.contains(&id) {
            return Ok(true);
        }
        self.remains(self.namespace, &self.batch.namespace, id)
    }

    /// Returns `true` if a checkpoint is stored and the batch has not removed it.
    fn remains(&self, row: Option<i64>, namespace: &str, id: CheckpointId) -> Result<bool, Error> {
        let Some(row) = row else { return Ok(false) };
        if self.rolled_back.get(namespace).is_some_and(|to| Some(id) > *to) {
            return Ok(false);
        }
        let found = self
            .db
            .prepare_cached("SELECT 1 FROM checkpoint WHERE namespace = ?1 AND name = ?2")?
            .query_row(params![row, IdText::from(id)], |_| Ok(()))
            .optional()?;
        Ok(found.is_some())
    }

    fn row_of(&self, namespace: &str) -> rusqlite::Result<Option<i64>> {
        let Some(thread) = self.thread else { return Ok(None) };
        self.db
            .prepare_cached("SELECT id FROM namespace WHERE thread = ?1 AND name = ?2")?
            .query_row(params![thread, namespace], |row| row.get(0))
            .optional()
    }
}

fn invalid(batch: &WriteBatch, reason: String) -> Error {
    CheckpointError::invalid(batch.thread.clone(), reason).into()
}
