use std::time::SystemTime;

use rusqlite::{Connection, params};
use superstep_store::cache::{EntryKey, NewEntry};

use crate::chunk::ColumnData;
use crate::columns::millis;
use crate::error::Error;

use super::clear;

/// The maximum number of expired results that one put deletes.
const EXPIRED_LIMIT: i64 = 64;

/// Stores results. An existing result with the same key is replaced.
pub(crate) fn put(db: &Connection, puts: &[NewEntry], now: SystemTime) -> Result<(), Error> {
    let now = millis(now);
    let mut insert = db.prepare_cached(
        "INSERT INTO cache_entry (graph, node, state, key, encoding, value, made, expires) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) \
         ON CONFLICT (graph, node, state, key) DO UPDATE \
         SET encoding = excluded.encoding, value = excluded.value, made = excluded.made, expires = excluded.expires",
    )?;
    for NewEntry { at: EntryKey { graph, node, state, key, .. }, value, ttl, .. } in puts {
        let ttl = ttl.map(|ttl| i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX));
        let expires = ttl.and_then(|ttl| now.checked_add(ttl));
        let (encoding, value) = (value.encoding().code(), ColumnData::from(value));
        insert.execute(params![&**graph, &**node, &**state, &**key, encoding, value, now, expires])?;
    }
    clear::delete_expired(db, now, EXPIRED_LIMIT)?;
    Ok(())
}
