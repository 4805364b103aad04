use std::time::SystemTime;

use rusqlite::{Connection, params};
use superstep_store::cache::{EntryKey, NewEntry};

use crate::chunk::Data;
use crate::stored::millis;
use crate::trouble::Trouble;

use super::clear;

/// How many expired results a put takes away with it.
const SWEPT: i64 = 64;

/// Puts results, each in the place of the one that is there.
pub(crate) fn put(db: &Connection, puts: &[NewEntry], now: SystemTime) -> Result<(), Trouble> {
    let now = millis(now);
    let mut insert = db.prepare_cached(
        "INSERT INTO cache_entry (graph, node, state, key, encoding, value, made, expires) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) \
         ON CONFLICT (graph, node, state, key) DO UPDATE \
         SET encoding = excluded.encoding, value = excluded.value, made = excluded.made, expires = excluded.expires",
    )?;
    for NewEntry { at: EntryKey { graph, node, state, key }, value, ttl } in puts {
        let ttl = ttl.map(|ttl| i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX));
        let expires = ttl.and_then(|ttl| now.checked_add(ttl));
        let (encoding, value) = (value.encoding().code(), Data::from(value));
        insert.execute(params![&**graph, &**node, &**state, &**key, encoding, value, now, expires])?;
    }
    clear::expired(db, now, SWEPT)?;
    Ok(())
}
