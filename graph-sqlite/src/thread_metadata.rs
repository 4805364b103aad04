//! The index over the metadata of threads: of the newest run in the root namespace of each.

use rusqlite::{Connection, OptionalExtension as _, params};
use superstep_store::Metadata;
use superstep_store::checkpoint::metadata_digest;

use crate::columns::text;
use crate::error::Error;

/// Replaces the metadata of a thread.
pub(crate) fn replace(db: &Connection, thread: i64, metadata: &Metadata) -> Result<(), Error> {
    db.prepare_cached("DELETE FROM thread_metadata WHERE thread = ?1")?.execute([thread])?;
    if metadata.is_empty() {
        return Ok(());
    }
    // Two entries of a run may have the same digest.
    let mut insert = db.prepare_cached(
        "INSERT INTO thread_metadata (thread, entry, name, rank) SELECT id, ?2, name, rank FROM thread WHERE id = ?1 \
         ON CONFLICT DO NOTHING",
    )?;
    for (key, value) in metadata {
        insert.execute(params![thread, entry(key, value)])?;
    }
    Ok(())
}

/// Reads the metadata of a thread again, after its head may have changed.
pub(crate) fn refresh(db: &Connection, thread: i64) -> Result<(), Error> {
    let mut query = db.prepare_cached(
        "SELECT r.metadata FROM namespace n JOIN checkpoint c ON c.namespace = n.id JOIN run r ON r.id = c.run \
         WHERE n.thread = ?1 AND n.name = '' ORDER BY c.name DESC LIMIT 1",
    )?;
    let found = query
        .query_row([thread], |row| Ok(text(row, 0).ok().and_then(|text| serde_json::from_str(text).ok())))
        .optional()?;
    // Damaged metadata are reported by the reads of their run.
    replace(db, thread, &found.flatten().unwrap_or_default())
}

/// Copies the metadata of a thread to a copy of it.
pub(crate) fn copy(db: &Connection, from: i64, to: i64) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT INTO thread_metadata (thread, entry, name, rank) \
         SELECT t.id, m.entry, t.name, m.rank FROM thread_metadata m JOIN thread t ON t.id = ?2 WHERE m.thread = ?1",
    )?
    .execute([from, to])?;
    Ok(())
}

/// Fills the index for a file of an older format.
pub(crate) fn index_all(db: &Connection) -> Result<(), Error> {
    let threads: Vec<i64> = db
        .prepare("SELECT DISTINCT thread FROM run WHERE metadata <> '{}'")?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    threads.into_iter().try_for_each(|thread| refresh(db, thread))
}

/// Returns the column `entry` of a key and its value.
pub(crate) fn entry(key: &str, value: &serde_json::Value) -> i64 {
    metadata_digest(key, value).cast_signed()
}
