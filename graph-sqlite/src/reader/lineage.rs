//! What was written to a field on the way to a checkpoint.

use std::sync::Arc;

use rusqlite::{CachedStatement, Connection, OptionalExtension as _, params};
use superstep_store::checkpoint::{ChangeKind, CheckpointId, StoredChange};

use crate::chunk::{self, Entry};
use crate::stored::{Name, bytes, encoding, id, optional_id};
use crate::trouble::Trouble;

/// A line that a checkpoint is on, or one that it branched off from, as far as the checkpoint sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ancestor {
    pub(crate) line: i64,
    /// The last checkpoint that is seen.
    pub(crate) until: CheckpointId,
}

/// The lines that lead to a checkpoint, its own first.
pub(crate) fn ancestry(
    db: &Connection,
    line: i64,
    checkpoint: CheckpointId,
) -> Result<Vec<Ancestor>, Trouble> {
    let mut ancestry = vec![Ancestor { line, until: checkpoint }];
    let mut query = db.prepare_cached("SELECT parent, fork FROM line WHERE id = ?1")?;
    let mut line = line;
    loop {
        let parent = query
            .query_row([line], |row| Ok((row.get::<_, Option<i64>>(0)?, optional_id(row, 1))))
            .optional()?;
        let Some((parent, fork)) = parent else {
            return Err(Trouble::damaged("the checkpoint's line", Some(checkpoint), "it is missing"));
        };
        match (parent, fork?) {
            (None, _) => return Ok(ancestry),
            // A line is younger than the one that it branched off from.
            (Some(parent), Some(fork)) if parent < line => {
                ancestry.push(Ancestor { line: parent, until: fork });
                line = parent;
            }
            _ => return Err(Trouble::damaged("the checkpoint's line", Some(checkpoint), "it leads nowhere")),
        }
    }
}

/// A row of `piece`.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) id: i64,
    pub(crate) before: i64,
    pub(crate) loose: i64,
    pub(crate) entries: Vec<Entry>,
    pub(crate) data: Arc<[u8]>,
}

impl Row {
    pub(crate) fn is_whole(&self) -> bool {
        self.entries.first().is_some_and(|first| first.kind == ChangeKind::Value)
    }

    /// How many entries the field has behind this row.
    pub(crate) fn after(&self) -> i64 {
        self.before.saturating_add(i64::try_from(self.entries.len()).unwrap_or(i64::MAX))
    }
}

/// The row of its columns id, first, whole, before, loose, encoding, entries and data.
pub(crate) fn row(row: &rusqlite::Row<'_>) -> Result<Row, Trouble> {
    let first = id(row, 1)?;
    row_of(row, first).map_err(|trouble| trouble.within(|| "a piece".to_owned(), Some(first)))
}

fn row_of(row: &rusqlite::Row<'_>, first: CheckpointId) -> Result<Row, Trouble> {
    let whole = row.get::<_, i64>(2)? != 0;
    let data: Arc<[u8]> = bytes(row, 7)?.into();
    let headers: Option<&[u8]> = row.get_ref(6)?.as_bytes_or_null().map_err(rusqlite::Error::from)?;
    let entries = match headers {
        Some(headers) => {
            chunk::entries(headers, data.len()).map_err(|reason| Trouble::damaged("a chunk", None, reason))?
        }
        None => vec![Entry {
            checkpoint: first,
            kind: if whole { ChangeKind::Value } else { ChangeKind::Delta },
            encoding: encoding(row.get(5)?)?,
            range: 0..data.len(),
        }],
    };
    let found = Row { id: row.get(0)?, before: row.get(3)?, loose: row.get(4)?, entries, data };
    let begins = found.entries.first().map(|entry| entry.checkpoint);
    if found.is_whole() != whole || begins != Some(first) {
        return Err(Trouble::damaged("a chunk", None, "it does not begin with what it should"));
    }
    Ok(found)
}

/// The field's pieces that make its value for whoever sees these lines, oldest first; none if it was never written.
pub(crate) fn pieces(
    db: &Connection,
    ancestry: &[Ancestor],
    field: i64,
) -> Result<Vec<StoredChange>, Trouble> {
    let mut query = db.prepare_cached(concat!(
        "SELECT id, first, whole, before, loose, encoding, entries, data FROM piece ",
        "WHERE line = ?1 AND field = ?2 AND first <= ?3 ORDER BY first DESC"
    ))?;
    let mut newest_first = Vec::new();
    for ancestor in ancestry {
        if collect(&mut query, *ancestor, field, &mut newest_first)? {
            break;
        }
    }
    let count = newest_first.iter().map(|row| row.entries.len()).sum();
    let mut pieces = Vec::with_capacity(count);
    for row in newest_first.into_iter().rev() {
        for entry in row.entries {
            let checkpoint = entry.checkpoint;
            let piece = chunk::piece(entry, &row.data).ok_or_else(|| {
                Trouble::damaged("a chunk", Some(checkpoint), "an entry is longer than the chunk")
            })?;
            pieces.push(piece);
        }
    }
    Ok(pieces)
}

/// Adds a line's rows from the newest back to a value; whether there was one.
fn collect(
    query: &mut CachedStatement<'_>,
    ancestor: Ancestor,
    field: i64,
    newest_first: &mut Vec<Row>,
) -> Result<bool, Trouble> {
    let mut rows = query.query(params![ancestor.line, field, Name::from(ancestor.until)])?;
    let mut expected = None;
    while let Some(found) = rows.next()? {
        let mut found = row(found)?;
        // Rows count what is before them, so that one that is missing is noticed.
        if expected.is_some_and(|expected| expected != found.after()) {
            return Err(missing(found.entries.last().map(|entry| entry.checkpoint)));
        }
        expected = Some(found.before);
        found.entries.retain(|entry| entry.checkpoint <= ancestor.until);
        let whole = found.is_whole();
        newest_first.push(found);
        if whole {
            break;
        }
    }
    match expected {
        Some(0) => Ok(newest_first.last().is_some_and(Row::is_whole)),
        Some(_) => Err(missing(None)),
        None => Ok(false),
    }
}

fn missing(checkpoint: Option<CheckpointId>) -> Trouble {
    Trouble::damaged("a chunk", checkpoint, "some of what was written is missing")
}
