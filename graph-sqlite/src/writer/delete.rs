use rusqlite::{Connection, OptionalExtension as _};

use crate::error::Error;

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
pub(crate) fn delete(session: &mut Session, thread: &str) -> Result<bool, Error> {
    let db = &session.db;
    let found = find_thread(db, thread)?;
    let Some(thread) = found else { return Ok(false) };
    session.row_cache.clear();
    for namespace in namespaces(db, thread)? {
        for statement in DELETE_NAMESPACE {
            db.prepare_cached(statement)?.execute([namespace])?;
        }
    }
    db.prepare_cached("DELETE FROM run WHERE thread = ?1")?.execute([thread])?;
    db.prepare_cached("DELETE FROM thread WHERE id = ?1")?.execute([thread])?;
    Ok(true)
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
