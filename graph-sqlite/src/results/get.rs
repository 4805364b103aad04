use std::time::SystemTime;

use rusqlite::{Connection, params};
use superstep_store::cache::{CacheError, CorruptEntry, EntryKey};
use superstep_store::payload::Payload;

use crate::columns::{millis, payload};
use crate::error::Error;

/// Returns the result under this key that is valid at `now`.
pub(crate) fn get(
    db: &Connection,
    at: &EntryKey,
    now: SystemTime,
) -> Result<Result<Option<Payload>, CacheError>, Error> {
    let mut query = db.prepare_cached(
        "SELECT encoding, value FROM cache_entry WHERE graph = ?1 AND node = ?2 AND state = ?3 AND key = ?4 \
         AND (expires IS NULL OR (made <= ?5 AND expires > ?5))",
    )?;
    let EntryKey { graph, node, state, key, .. } = at;
    let mut rows = query.query(params![&**graph, &**node, &**state, &**key, millis(now)])?;
    let Some(row) = rows.next()? else { return Ok(Ok(None)) };
    match row.get(0).map_err(Error::from).and_then(|encoding| payload(row, encoding, 1)) {
        Ok(value) => Ok(Ok(Some(value))),
        Err(Error::Corrupt(corruption)) => {
            let reason = format!("{}: {}", corruption.part, corruption.reason);
            Ok(Err(CacheError::corrupt(CorruptEntry::new(at.clone(), reason))))
        }
        Err(other) => Err(other),
    }
}
