//! Which line a new checkpoint is on.

use rusqlite::{Connection, params};
use superstep_store::checkpoint::CheckpointId;

use crate::reader;
use crate::stored::{Name, optional_id};
use crate::trouble::Trouble;

use super::known::Namespace;
use super::pieces;

/// How many lines a read goes through at most: a line that would lie deeper begins with what its first checkpoint sees.
const DEPTH: i64 = 16;

/// The line of a checkpoint that follows `parent`; a new one if it is not the last of its line.
pub(super) fn place(
    db: &Connection,
    namespace: &Namespace,
    parent: Option<CheckpointId>,
) -> Result<i64, Trouble> {
    let Some((head, head_line)) = namespace.head else { return Ok(begin(db, namespace, None, 0)?) };
    match parent {
        Some(parent) if parent == head => return Ok(head_line),
        _ => db
            .prepare_cached("UPDATE line SET tip = ?2 WHERE id = ?1")?
            .execute(params![head_line, Name::from(head)])?,
    };
    let Some(parent) = parent else { return Ok(begin(db, namespace, None, 0)?) };
    let mut query = db.prepare_cached(
        "SELECT l.id, l.depth, l.tip FROM checkpoint c JOIN line l ON l.id = c.line \
         WHERE c.namespace = ?1 AND c.name = ?2",
    )?;
    let mut rows = query.query(params![namespace.id, Name::from(parent)])?;
    let Some(row) = rows.next()? else {
        return Err(Trouble::damaged("the checkpoint's line", Some(parent), "it is missing"));
    };
    let (line, depth): (i64, i64) = (row.get(0)?, row.get(1)?);
    if optional_id(row, 2)? == Some(parent) {
        return Ok(line);
    }
    if depth + 1 < DEPTH {
        return Ok(begin(db, namespace, Some((line, parent)), depth + 1)?);
    }
    let new = begin(db, namespace, None, 0)?;
    let ancestry = reader::ancestry(db, line, parent)?;
    for field in fields(db, namespace.id)? {
        pieces::append(db, new, field, &reader::pieces(db, &ancestry, field)?)?;
    }
    Ok(new)
}

fn begin(
    db: &Connection,
    namespace: &Namespace,
    fork: Option<(i64, CheckpointId)>,
    depth: i64,
) -> rusqlite::Result<i64> {
    db.prepare_cached("INSERT INTO line (namespace, parent, fork, depth) VALUES (?1, ?2, ?3, ?4)")?.insert(
        params![
            namespace.id,
            fork.map(|(line, _)| line),
            fork.map(|(_, checkpoint)| Name::from(checkpoint)),
            depth
        ],
    )
}

/// Every field that was ever written in a namespace.
pub(super) fn fields(db: &Connection, namespace: i64) -> rusqlite::Result<Vec<i64>> {
    db.prepare_cached("SELECT id FROM field WHERE namespace = ?1 ORDER BY id")?
        .query_map([namespace], |row| row.get(0))?
        .collect()
}
