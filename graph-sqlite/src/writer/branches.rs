//! Branches: the SQL that picks or creates the branch of a new checkpoint.

use rusqlite::{Connection, params};
use superstep_store::checkpoint::CheckpointId;

use crate::columns::{IdText, optional_id};
use crate::error::Error;
use crate::reader;

use super::changes;
use super::row_cache::CachedNamespace;

/// The maximum number of branches that a read follows. A branch that would be deeper starts with a copy of the fields
/// that its first checkpoint sees.
const MAX_DEPTH: i64 = 16;

/// Returns the branch of a checkpoint that follows `parent`. Creates one if `parent` is not the last checkpoint of its
/// branch.
pub(super) fn branch_for(
    db: &Connection,
    namespace: &CachedNamespace,
    checkpoint: CheckpointId,
    parent: Option<CheckpointId>,
) -> Result<i64, Error> {
    let insert_branch = |fork, depth| insert_branch(db, namespace, checkpoint, fork, depth);
    let Some((head, head_branch)) = namespace.head else { return Ok(insert_branch(None, 0)?) };
    match parent {
        Some(parent) if parent == head => return Ok(head_branch),
        _ => db
            .prepare_cached("UPDATE line SET tip = ?2 WHERE id = ?1")?
            .execute(params![head_branch, IdText::from(head)])?,
    };
    let Some(parent) = parent else { return Ok(insert_branch(None, 0)?) };
    let mut query = db.prepare_cached(
        "SELECT l.id, l.depth, l.tip FROM checkpoint c JOIN line l ON l.id = c.line \
         WHERE c.namespace = ?1 AND c.name = ?2",
    )?;
    let mut rows = query.query(params![namespace.id, IdText::from(parent)])?;
    let Some(row) = rows.next()? else {
        return Err(Error::corrupt("the checkpoint's branch", Some(parent), "it is missing"));
    };
    let (branch, depth): (i64, i64) = (row.get(0)?, row.get(1)?);
    if optional_id(row, 2)? == Some(parent) {
        return Ok(branch);
    }
    if depth + 1 < MAX_DEPTH {
        return Ok(insert_branch(Some((branch, parent)), depth + 1)?);
    }
    let new = insert_branch(None, 0)?;
    let ancestry = reader::ancestry(db, branch, parent)?;
    for field in fields(db, namespace.id)? {
        changes::append_compacted(db, new, field, &reader::changes(db, &ancestry, field)?)?;
    }
    Ok(new)
}

fn insert_branch(
    db: &Connection,
    namespace: &CachedNamespace,
    first: CheckpointId,
    fork: Option<(i64, CheckpointId)>,
    depth: i64,
) -> rusqlite::Result<i64> {
    db.prepare_cached("INSERT INTO line (namespace, parent, fork, depth, first) VALUES (?1, ?2, ?3, ?4, ?5)")?
        .insert(params![
            namespace.id,
            fork.map(|(branch, _)| branch),
            fork.map(|(_, checkpoint)| IdText::from(checkpoint)),
            depth,
            IdText::from(first),
        ])
}

/// Returns every field that was ever written in a namespace.
pub(super) fn fields(db: &Connection, namespace: i64) -> rusqlite::Result<Vec<i64>> {
    db.prepare_cached("SELECT id FROM field WHERE namespace = ?1 ORDER BY id")?
        .query_map([namespace], |row| row.get(0))?
        .collect()
}
