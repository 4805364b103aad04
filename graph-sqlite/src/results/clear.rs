use rusqlite::{Connection, params};
use superstep_store::cache::Clear;
use superstep_store::checkpoint::CheckpointError;

use crate::columns::millis;
use crate::error::Error;
use crate::writer::{Session, WriteStatus};

/// The number of results that one transaction deletes. Other writers wait that long.
const ROWS_PER_TRANSACTION: i64 = 512;

/// A clear in progress, in a sequence of short transactions.
#[derive(Debug)]
pub(crate) struct Clearing {
    which: Clear,
    cleared: u64,
}

impl Clearing {
    pub(crate) fn new(which: Clear) -> Self {
        Self { which, cleared: 0 }
    }

    /// Does the work of one transaction.
    pub(crate) fn advance(&mut self, session: &Session) -> Result<WriteStatus<u64>, Error> {
        let cleared = clear_some(&session.db, &self.which)?;
        if cleared == 0 {
            return Ok(WriteStatus::Done(self.cleared));
        }
        self.cleared += cleared;
        Ok(WriteStatus::More)
    }
}

fn clear_some(db: &Connection, which: &Clear) -> Result<u64, Error> {
    let cleared = match which {
        Clear::All => db
            .prepare_cached("DELETE FROM cache_entry WHERE id IN (SELECT id FROM cache_entry LIMIT ?1)")?
            .execute([ROWS_PER_TRANSACTION])?,
        Clear::Graph(graph) => db
            .prepare_cached(
                "DELETE FROM cache_entry WHERE id IN (SELECT id FROM cache_entry WHERE graph = ?1 LIMIT ?2)",
            )?
            .execute(params![&**graph, ROWS_PER_TRANSACTION])?,
        Clear::Node { graph, node, .. } => db
            .prepare_cached(
                "DELETE FROM cache_entry WHERE id IN \
                 (SELECT id FROM cache_entry WHERE graph = ?1 AND node = ?2 LIMIT ?3)",
            )?
            .execute(params![&**graph, &**node, ROWS_PER_TRANSACTION])?,
        Clear::Expired { now, .. } => return delete_expired(db, millis(*now), ROWS_PER_TRANSACTION),
        _ => return Err(CheckpointError::backend("clear results", "the selection is not supported").into()),
    };
    Ok(cleared as u64)
}

/// Deletes at max `max` expired results. Returns the number of deleted results.
pub(super) fn delete_expired(db: &Connection, now: i64, max: i64) -> Result<u64, Error> {
    let mut delete = db.prepare_cached(
        "DELETE FROM cache_entry WHERE id IN \
         (SELECT id FROM cache_entry WHERE expires <= ?1 ORDER BY expires LIMIT ?2)",
    )?;
    Ok(delete.execute([now, max])? as u64)
}
