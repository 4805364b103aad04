//! Field changes: the SQL that stores them and compacts small rows into chunks.

use rusqlite::{Connection, OptionalExtension as _, params};
use superstep_store::checkpoint::StoredChange;

use crate::chunk::{Chunk, HEADER_BYTES, MAX_BYTES, MAX_ENTRIES};
use crate::columns::IdText;
use crate::error::Error;
use crate::reader::{ChangeRow, change_row};

use super::row_cache::{COMPACT_AT, CachedNamespace, FieldEnd};

/// Rows with more bytes, or more entries, are not compacted: it would gain nothing.
const LARGE_ROW_BYTES: usize = MAX_BYTES / 2;
const LARGE_ROW_ENTRIES: usize = MAX_ENTRIES / 2;

/// Appends a row to the rows of a field on a branch.
pub(super) fn append(
    db: &Connection,
    namespace: &mut CachedNamespace,
    branch: i64,
    name: &str,
    chunk: &Chunk,
) -> Result<(), Error> {
    let field = field_id(db, namespace, name)?;
    let end = match namespace.field_ends.get(&field) {
        Some((of, end)) if *of == branch => *end,
        _ => last_end(db, branch, field)?,
    };
    let end = append_row(db, branch, field, end, chunk)?;
    namespace.field_ends.insert(field, (branch, end));
    Ok(())
}

/// Writes changes, already compacted, to a branch that has no changes of the field.
pub(super) fn append_compacted(
    db: &Connection,
    branch: i64,
    field: i64,
    changes: &[StoredChange],
) -> Result<(), Error> {
    let mut end = FieldEnd::default();
    let mut chunk = Chunk::default();
    // The changes of one checkpoint stay in one row.
    for group in changes.chunk_by(|one, next| one.checkpoint == next.checkpoint) {
        let bytes: usize = group.iter().map(|change| change.payload.len() + 1).sum();
        if chunk.len() > 0 && (chunk.starts_with_value() || !fits(&chunk, group.len(), bytes)) {
            end = insert_row(db, branch, field, FieldEnd { uncompacted: 0, ..end }, &chunk)?;
            chunk = Chunk::default();
        }
        for change in group {
            chunk.push(change.checkpoint, change.kind, &change.payload);
        }
    }
    if chunk.len() > 0 {
        insert_row(db, branch, field, FieldEnd { uncompacted: 0, ..end }, &chunk)?;
    }
    Ok(())
}

/// Returns `true` if a row has room for this many more entries and bytes.
pub(super) fn fits(chunk: &Chunk, entries: usize, bytes: usize) -> bool {
    chunk.len() + entries <= MAX_ENTRIES && chunk.bytes() + bytes <= MAX_BYTES
}

fn field_id(db: &Connection, namespace: &mut CachedNamespace, name: &str) -> Result<i64, Error> {
    if let Some(id) = namespace.fields.get(name) {
        return Ok(*id);
    }
    let found = db
        .prepare_cached("SELECT id FROM field WHERE namespace = ?1 AND name = ?2")?
        .query_row(params![namespace.id, name], |row| row.get(0))
        .optional()?;
    let id = match found {
        Some(id) => id,
        None => db
            .prepare_cached("INSERT INTO field (namespace, name) VALUES (?1, ?2)")?
            .insert(params![namespace.id, name])?,
    };
    namespace.fields.insert(name.into(), id);
    Ok(id)
}

fn last_end(db: &Connection, branch: i64, field: i64) -> Result<FieldEnd, Error> {
    let last = db
        .prepare_cached(
            "SELECT before, coalesce(length(entries) / ?3, 1), loose FROM piece \
             WHERE line = ?1 AND field = ?2 ORDER BY first DESC LIMIT 1",
        )?
        .query_row(params![branch, field, HEADER_BYTES as i64], |row| {
            let (before, entries): (i64, i64) = (row.get(0)?, row.get(1)?);
            Ok(FieldEnd { entries: before + entries, uncompacted: row.get(2)? })
        })
        .optional()?;
    Ok(last.unwrap_or_default())
}

/// Appends a row, and compacts the uncompacted rows once there are enough.
fn append_row(
    db: &Connection,
    branch: i64,
    field: i64,
    end: FieldEnd,
    chunk: &Chunk,
) -> Result<FieldEnd, Error> {
    // A read starts at a value, so merging it with earlier rows gains nothing.
    let large =
        chunk.starts_with_value() || chunk.bytes() > LARGE_ROW_BYTES || chunk.len() > LARGE_ROW_ENTRIES;
    let uncompacted = if large { 0 } else { end.uncompacted + 1 };
    let end = insert_row(db, branch, field, FieldEnd { uncompacted, ..end }, chunk)?;
    if end.uncompacted < COMPACT_AT {
        return Ok(end);
    }
    match uncompacted_rows(db, branch, field) {
        Ok(rows) => Ok(FieldEnd { uncompacted: compact(db, branch, field, &rows)?, ..end }),
        // A read reports the corruption. It must not stop writes.
        Err(Error::Corrupt(_)) => Ok(end),
        Err(other) => Err(other),
    }
}

pub(super) const INSERT_CHANGES: &str = "INSERT INTO piece (line, field, first, whole, before, loose, encoding, entries, data) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";

/// Inserts a row. `end.uncompacted` is the value for the row itself.
fn insert_row(
    db: &Connection,
    branch: i64,
    field: i64,
    end: FieldEnd,
    chunk: &Chunk,
) -> Result<FieldEnd, Error> {
    let Some(first) = chunk.first() else { return Ok(end) };
    let before = if chunk.starts_with_value() { 0 } else { end.entries };
    db.prepare_cached(INSERT_CHANGES)?.execute(params![
        branch,
        field,
        IdText::from(first.checkpoint),
        chunk.starts_with_value(),
        before,
        end.uncompacted,
        chunk.single_encoding().map(|encoding| encoding.code()),
        chunk.headers(),
        chunk.data(),
    ])?;
    let entries = before.saturating_add(i64::try_from(chunk.len()).unwrap_or(i64::MAX));
    Ok(FieldEnd { entries, uncompacted: end.uncompacted })
}

/// Returns the uncompacted rows at the end, oldest first.
fn uncompacted_rows(db: &Connection, branch: i64, field: i64) -> Result<Vec<ChangeRow>, Error> {
    let mut query = db.prepare_cached(
        "SELECT id, first, whole, before, loose, encoding, entries, data FROM piece \
         WHERE line = ?1 AND field = ?2 ORDER BY first DESC LIMIT ?3",
    )?;
    let mut rows = query.query(params![branch, field, COMPACT_AT])?;
    let mut found = Vec::new();
    while let Some(next) = rows.next()? {
        let next = change_row(next)?;
        if next.head.uncompacted == 0 {
            break;
        }
        found.push(next);
    }
    found.reverse();
    Ok(found)
}

/// Compacts these rows into chunks. Returns the number of rows that remain uncompacted.
fn compact(db: &Connection, branch: i64, field: i64, rows: &[ChangeRow]) -> Result<i64, Error> {
    let mut chunk = Chunk::default();
    let mut members: Vec<i64> = Vec::new();
    for row in rows {
        if !fits(&chunk, row.changes.len(), row.head.bytes + 1) {
            replace_rows(db, branch, field, &members, &chunk)?;
            chunk = Chunk::default();
            members.clear();
        }
        members.push(row.head.id);
        append_changes(row, &mut chunk);
    }
    if let [alone] = members.as_slice() {
        db.prepare_cached("UPDATE piece SET loose = 1 WHERE id = ?1")?.execute([alone])?;
        return Ok(1);
    }
    replace_rows(db, branch, field, &members, &chunk)?;
    Ok(0)
}

/// Replaces the first of these rows by the chunk that was made of all, and deletes the others.
fn replace_rows(db: &Connection, branch: i64, field: i64, rows: &[i64], chunk: &Chunk) -> Result<(), Error> {
    let (Some(first), Some(begin), Some(end)) = (rows.first(), chunk.first(), chunk.last()) else {
        return Ok(());
    };
    db.prepare_cached("DELETE FROM piece WHERE line = ?1 AND field = ?2 AND first > ?3 AND first <= ?4")?
        .execute(params![branch, field, IdText::from(begin.checkpoint), IdText::from(end.checkpoint)])?;
    replace_row(db, *first, chunk)
}

/// Appends the changes of a row to a chunk.
pub(super) fn append_changes(row: &ChangeRow, chunk: &mut Chunk) {
    for change in &row.changes {
        chunk.push(change.checkpoint, change.kind, &change.payload);
    }
}

/// Replaces the content of a row by a chunk.
pub(super) fn replace_row(db: &Connection, row: i64, chunk: &Chunk) -> Result<(), Error> {
    db.prepare_cached("UPDATE piece SET loose = 0, encoding = ?2, entries = ?3, data = ?4 WHERE id = ?1")?
        .execute(params![
            row,
            chunk.single_encoding().map(|encoding| encoding.code()),
            chunk.headers(),
            chunk.data()
        ])?;
    Ok(())
}
