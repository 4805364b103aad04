use rusqlite::{Connection, OptionalExtension as _, params};
use superstep_store::checkpoint::{BatchWrite, CheckpointError, CheckpointId, Conflict, Fence, WriteBatch};

use crate::columns::IdText;
use crate::error::Error;

use super::row_cache::{CachedNamespace, RowCache};

/// Refuses an invalid batch before any of it is written.
pub(super) fn check(db: &Connection, row_cache: &mut RowCache, batch: &WriteBatch) -> Result<(), Error> {
    let mut found = Fence::default();
    let mut namespace = None;
    let mut same_origin = true;
    if let Some(thread) = row_cache.thread(db, &batch.thread)? {
        found.epoch = thread.epoch;
        same_origin = thread.origin == batch.origin;
        namespace = thread.namespace(db, &batch.namespace)?;
        found.head = namespace.as_ref().and_then(|namespace| namespace.head).map(|(head, _)| head);
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
    let mut existing =
        ExistingCheckpoints { db, namespace: namespace.as_deref(), greatest: found.head, added: Vec::new() };
    batch.writes.iter().try_for_each(|write| existing.write(batch, write))
}

/// The checkpoints that exist at this point of the batch.
struct ExistingCheckpoints<'a> {
    db: &'a Connection,
    namespace: Option<&'a CachedNamespace>,
    greatest: Option<CheckpointId>,
    added: Vec<CheckpointId>,
}

impl ExistingCheckpoints<'_> {
    fn write(&mut self, batch: &WriteBatch, write: &BatchWrite) -> Result<(), Error> {
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
        }
        Ok(())
    }

    fn has(&self, id: CheckpointId) -> Result<bool, Error> {
        if self.greatest == Some(id) || self.added.contains(&id) {
            return Ok(true);
        }
        let Some(namespace) = self.namespace else { return Ok(false) };
        let found = self
            .db
            .prepare_cached("SELECT 1 FROM checkpoint WHERE namespace = ?1 AND name = ?2")?
            .query_row(params![namespace.id, IdText::from(id)], |_| Ok(()))
            .optional()?;
        Ok(found.is_some())
    }
}

fn invalid(batch: &WriteBatch, reason: String) -> Error {
    CheckpointError::invalid(batch.thread.clone(), reason).into()
}
