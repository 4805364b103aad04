use std::time::SystemTime;

use rusqlite::Connection;

use crate::columns::millis;
use crate::error::Error;
use crate::writer::{Session, WriteStatus};

use super::write::remove;
use super::{ItemError, separate_refusal};

/// The number of items that one transaction deletes. Other writers wait that long.
const ROWS_PER_TRANSACTION: i64 = 512;

/// A deletion of all expired items, in a sequence of short transactions.
#[derive(Debug)]
pub(crate) struct ExpiredDeletion {
    now: i64,
    deleted: u64,
}

impl ExpiredDeletion {
    pub(crate) fn new(now: SystemTime) -> Self {
        Self { now: millis(now), deleted: 0 }
    }

    /// Does the work of one transaction.
    pub(crate) fn advance(
        &mut self,
        session: &Session,
    ) -> Result<WriteStatus<Result<u64, superstep_store::store::StoreError>>, Error> {
        let deleted = match separate_refusal(delete_expired(&session.db, self.now, ROWS_PER_TRANSACTION))? {
            Ok(deleted) => deleted,
            Err(error) => return Ok(WriteStatus::Done(Err(error))),
        };
        if deleted == 0 {
            return Ok(WriteStatus::Done(Ok(self.deleted)));
        }
        self.deleted += deleted;
        Ok(WriteStatus::More)
    }
}

/// Deletes at max `max` expired items. Returns the number of deleted items.
pub(super) fn delete_expired(db: &Connection, now: i64, max: i64) -> Result<u64, ItemError> {
    let mut query = db.prepare_cached(
        "SELECT id, namespace FROM store_item WHERE expires <= ?1 ORDER BY expires LIMIT ?2",
    )?;
    let ended: Vec<(i64, i64)> =
        query.query_map([now, max], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
    for (item, namespace) in &ended {
        remove(db, *item, *namespace)?;
    }
    Ok(ended.len() as u64)
}
