//! Writing what a checkpoint says of fields.

use rusqlite::{Connection, OptionalExtension as _, params};
use superstep_store::checkpoint::StoredChange;

use crate::chunk::{self, Chunk, HEADER, MOST_BYTES, MOST_ENTRIES};
use crate::reader::{Row, row};
use crate::stored::Name;
use crate::trouble::Trouble;

use super::known::{End, Namespace};

/// So many loose rows are put together.
const LOOSE: i64 = 64;

/// A row of so many bytes, or of so many entries, is left alone: to put it together with others gains nothing.
const LARGE: usize = MOST_BYTES / 2;
const MANY: usize = MOST_ENTRIES / 2;

/// Adds a row at the end of a field's rows on a line.
pub(super) fn store(
    db: &Connection,
    namespace: &mut Namespace,
    line: i64,
    name: &str,
    chunk: &Chunk,
) -> Result<(), Trouble> {
    let field = field(db, namespace, name)?;
    let end = match namespace.ends.get(&field) {
        Some((of, end)) if *of == line => *end,
        _ => end(db, line, field)?,
    };
    let end = add(db, line, field, end, chunk)?;
    namespace.ends.insert(field, (line, end));
    Ok(())
}

/// Adds pieces to a line that has none of the field, already put together.
pub(super) fn append(db: &Connection, line: i64, field: i64, pieces: &[StoredChange]) -> Result<(), Trouble> {
    let mut end = End::default();
    let mut chunk = Chunk::default();
    // What one checkpoint has written stays in one row.
    for group in pieces.chunk_by(|one, next| one.checkpoint == next.checkpoint) {
        let bytes: usize = group.iter().map(|piece| piece.payload.len() + 1).sum();
        if chunk.len() > 0 && (chunk.is_whole() || !fits(&chunk, group.len(), bytes)) {
            end = insert(db, line, field, End { loose: 0, ..end }, &chunk)?;
            chunk = Chunk::default();
        }
        for piece in group {
            chunk.push(piece.checkpoint, piece.kind, &piece.payload);
        }
    }
    if chunk.len() > 0 {
        insert(db, line, field, End { loose: 0, ..end }, &chunk)?;
    }
    Ok(())
}

/// Whether so many more entries of so many bytes find room in a row.
pub(super) fn fits(chunk: &Chunk, entries: usize, bytes: usize) -> bool {
    chunk.len() + entries <= MOST_ENTRIES && chunk.bytes() + bytes <= MOST_BYTES
}

fn field(db: &Connection, namespace: &mut Namespace, name: &str) -> Result<i64, Trouble> {
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

fn end(db: &Connection, line: i64, field: i64) -> Result<End, Trouble> {
    let last = db
        .prepare_cached(
            "SELECT before, coalesce(length(entries) / ?3, 1), loose FROM piece \
             WHERE line = ?1 AND field = ?2 ORDER BY first DESC LIMIT 1",
        )?
        .query_row(params![line, field, HEADER as i64], |row| {
            let (before, entries): (i64, i64) = (row.get(0)?, row.get(1)?);
            Ok(End { entries: before + entries, loose: row.get(2)? })
        })
        .optional()?;
    Ok(last.unwrap_or_default())
}

/// Adds a row at the end, and puts the loose ones together when there are enough of them.
fn add(db: &Connection, line: i64, field: i64, end: End, chunk: &Chunk) -> Result<End, Trouble> {
    // A read begins at a value: nothing is gained by putting it together with anything.
    let alone = chunk.is_whole() || chunk.bytes() > LARGE || chunk.len() > MANY;
    let loose = if alone { 0 } else { end.loose + 1 };
    let end = insert(db, line, field, End { loose, ..end }, chunk)?;
    if end.loose < LOOSE {
        return Ok(end);
    }
    match loose_rows(db, line, field) {
        Ok(rows) => Ok(End { loose: put_together(db, line, field, &rows)?, ..end }),
        // Whoever reads it will be told; writing goes on.
        Err(Trouble::Damaged(_)) => Ok(end),
        Err(other) => Err(other),
    }
}

pub(super) const INSERT: &str = "INSERT INTO piece (line, field, first, whole, before, loose, encoding, entries, data) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";

/// Inserts a row; `end.loose` is the row's own.
fn insert(db: &Connection, line: i64, field: i64, end: End, chunk: &Chunk) -> Result<End, Trouble> {
    let Some(first) = chunk.first() else { return Ok(end) };
    let before = if chunk.is_whole() { 0 } else { end.entries };
    db.prepare_cached(INSERT)?.execute(params![
        line,
        field,
        Name::from(first.checkpoint),
        chunk.is_whole(),
        before,
        end.loose,
        chunk.single().map(|encoding| encoding.code()),
        chunk.headers(),
        chunk.data(),
    ])?;
    let entries = before.saturating_add(i64::try_from(chunk.len()).unwrap_or(i64::MAX));
    Ok(End { entries, loose: end.loose })
}

/// The loose rows at the end, oldest first.
fn loose_rows(db: &Connection, line: i64, field: i64) -> Result<Vec<Row>, Trouble> {
    let mut query = db.prepare_cached(
        "SELECT id, first, whole, before, loose, encoding, entries, data FROM piece \
         WHERE line = ?1 AND field = ?2 ORDER BY first DESC LIMIT ?3",
    )?;
    let mut rows = query.query(params![line, field, LOOSE])?;
    let mut found = Vec::new();
    while let Some(next) = rows.next()? {
        let next = row(next)?;
        if next.loose == 0 {
            break;
        }
        found.push(next);
    }
    found.reverse();
    Ok(found)
}

/// Makes chunks of these rows; how many are loose afterwards.
fn put_together(db: &Connection, line: i64, field: i64, rows: &[Row]) -> Result<i64, Trouble> {
    let mut chunk = Chunk::default();
    let mut members: Vec<i64> = Vec::new();
    for row in rows {
        if !fits(&chunk, row.entries.len(), row.data.len() + 1) {
            take_place(db, line, field, &members, &chunk)?;
            chunk = Chunk::default();
            members.clear();
        }
        members.push(row.id);
        copy(row, &mut chunk)?;
    }
    if let [alone] = members.as_slice() {
        db.prepare_cached("UPDATE piece SET loose = 1 WHERE id = ?1")?.execute([alone])?;
        return Ok(1);
    }
    take_place(db, line, field, &members, &chunk)?;
    Ok(0)
}

/// Puts a chunk in the place of the first of the rows that it was made of, and takes the others away.
fn take_place(db: &Connection, line: i64, field: i64, rows: &[i64], chunk: &Chunk) -> Result<(), Trouble> {
    let (Some(first), Some(begin), Some(end)) = (rows.first(), chunk.first(), chunk.last()) else {
        return Ok(());
    };
    db.prepare_cached("DELETE FROM piece WHERE line = ?1 AND field = ?2 AND first > ?3 AND first <= ?4")?
        .execute(params![line, field, Name::from(begin.checkpoint), Name::from(end.checkpoint)])?;
    replace(db, *first, chunk)
}

/// Adds a row's entries to a chunk.
pub(super) fn copy(row: &Row, chunk: &mut Chunk) -> Result<(), Trouble> {
    for entry in &row.entries {
        let piece = chunk::piece(entry.clone(), &row.data).ok_or_else(|| {
            Trouble::damaged("a chunk", Some(entry.checkpoint), "an entry is longer than the chunk")
        })?;
        chunk.push(piece.checkpoint, piece.kind, &piece.payload);
    }
    Ok(())
}

/// Puts a chunk in the place of a row.
pub(super) fn replace(db: &Connection, row: i64, chunk: &Chunk) -> Result<(), Trouble> {
    db.prepare_cached("UPDATE piece SET loose = 0, encoding = ?2, entries = ?3, data = ?4 WHERE id = ?1")?
        .execute(params![
            row,
            chunk.single().map(|encoding| encoding.code()),
            chunk.headers(),
            chunk.data()
        ])?;
    Ok(())
}
