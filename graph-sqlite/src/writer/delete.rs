use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _};
use superstep_store::checkpoint::{CheckpointError, Conflict, Fence};

use crate::error::Error;
use crate::reader;

use super::Session;

/// The deletions for one namespace. Referring rows are deleted before the rows that they refer to.
const DELETE_NAMESPACE: [&str; 6] = [
    "DELETE FROM record WHERE checkpoint IN (SELECT id FROM checkpoint WHERE namespace = ?1)",
    "DELETE FROM checkpoint WHERE namespace = ?1",
    "DELETE FROM piece WHERE line IN (SELECT id FROM line WHERE namespace = ?1)",
    "DELETE FROM line WHERE namespace = ?1",
    "DELETE FROM field WHERE namespace = ?1",
    "DELETE FROM namespace WHERE id = ?1",
];

/// Deletes a thread with everything in it. Returns `false` if it does not exist.
pub(crate) fn delete(session: &mut Session, name: &Arc<str>, epoch: Option<u64>) -> Result<bool, Error> {
    let db = &session.db;
    let found = find_thread(db, name)?;
    let Some(thread) = found else { return Ok(false) };
    check_epoch(db, name, thread, epoch)?;
    session.row_cache.clear();
    for namespace in namespaces(db, thread)? {
        delete_namespace(db, namespace)?;
    }
    db.prepare_cached("DELETE FROM run WHERE thread = ?1")?.execute([thread])?;
    db.prepare_cached("DELETE FROM thread_metadata WHERE thread = ?1")?.execute([thread])?;
    db.prepare_cached("DELETE FROM thread WHERE id = ?1")?.execute([thread])?;
    Ok(true)
}

/// Deletes a namespace with everything in it.
pub(super) fn delete_namespace(db: &Connection, namespace: i64) -> rusqlite::Result<()> {
    for statement in DELETE_NAMESPACE {
        db.prepare_cached(statement)?.execute([namespace])?;
    }
    Ok(())
}

/// Refuses a call that names another epoch than that of the thread.
pub(super) fn check_epoch(
    db: &Connection,
    name: &Arc<str>,
    thread: i64,
    epoch: Option<u64>,
) -> Result<(), Error> {
    let Some(expected) = epoch else { return Ok(()) };
    let found: i64 =
        db.prepare_cached("SELECT epoch FROM thread WHERE id = ?1")?.query_row([thread], |row| row.get(0))?;
    if found.cast_unsigned() == expected {
        return Ok(());
    }
    let root = db
        .prepare_cached("SELECT id FROM namespace WHERE thread = ?1 AND name = ''")?
        .query_row([thread], |row| row.get(0))
        .optional()?;
    let head = root.map(|root| reader::head(db, root)).transpose()?.flatten();
    let found = Fence::new(found.cast_unsigned(), head.map(|(head, _)| head));
    Err(CheckpointError::conflict(Conflict::of_epoch(Arc::clone(name), expected, found)).into())
}

pub(super) fn find_thread(db: &Connection, thread: &str) -> rusqlite::Result<Option<i64>> {
    db.prepare_cached("SELECT id FROM thread WHERE name = ?1")?
        .query_row([thread], |row| row.get(0))
        .optional()
}

pub(super) fn namespaces(db: &Connection, thread: i64) -> rusqlite::Result<Vec<i64>> {
    db.prepare_cached("SELECT id FROM namespace WHERE thread = ?1 ORDER BY id")?
        .query_map([thread], |row| row.get(0))?
        .collect()
}
