//! The changes of a field on the way to a checkpoint, across branches.

use std::sync::Arc;

use rusqlite::{CachedStatement, Connection, OptionalExtension as _, params};
use superstep_store::checkpoint::{ChangeKind, CheckpointId, StoredChange};

use crate::chunk::{self, Entry};
use crate::columns::{IdText, bytes, encoding, id, optional_id};
use crate::error::Error;

use super::room::Room;

/// The part of a branch that a checkpoint sees.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ancestor {
    pub(crate) branch: i64,
    /// The last checkpoint in that part.
    pub(crate) until: CheckpointId,
}

/// Returns the branches that lead to a checkpoint, its own first.
pub(crate) fn ancestry(
    db: &Connection,
    branch: i64,
    checkpoint: CheckpointId,
) -> Result<Vec<Ancestor>, Error> {
    let mut ancestry = vec![Ancestor { branch, until: checkpoint }];
    let mut query = db.prepare_cached("SELECT parent, fork FROM line WHERE id = ?1")?;
    let mut branch = branch;
    loop {
        let parent = query
            .query_row([branch], |row| Ok((row.get::<_, Option<i64>>(0)?, optional_id(row, 1))))
            .optional()?;
        let Some((parent, fork)) = parent else {
            return Err(Error::corrupt("the checkpoint's branch", Some(checkpoint), "it is missing"));
        };
        match (parent, fork?) {
            (None, _) => return Ok(ancestry),
            // A parent branch is always older, so this loop ends even if the file is corrupt.
            (Some(parent), Some(fork)) if parent < branch => {
                ancestry.push(Ancestor { branch: parent, until: fork });
                branch = parent;
            }
            _ => {
                return Err(Error::corrupt(
                    "the checkpoint's branch",
                    Some(checkpoint),
                    "its parent is invalid",
                ));
            }
        }
    }
}

/// A row of the table `piece`: one or more changes of a field.
#[derive(Debug)]
pub(crate) struct ChangeRow {
    pub(crate) id: i64,
    pub(crate) before: i64,
    pub(crate) uncompacted: i64,
    pub(crate) entries: Vec<Entry>,
    pub(crate) data: Arc<[u8]>,
}

impl ChangeRow {
    pub(crate) fn starts_with_value(&self) -> bool {
        self.entries.first().is_some_and(|first| first.kind == ChangeKind::Value)
    }

    /// Returns the number of entries up to the end of this row, since the latest value.
    pub(crate) fn end(&self) -> i64 {
        self.before.saturating_add(i64::try_from(self.entries.len()).unwrap_or(i64::MAX))
    }
}

/// Reads a row from the columns id, first, whole, before, loose, encoding, entries and data.
pub(crate) fn change_row(row: &rusqlite::Row<'_>) -> Result<ChangeRow, Error> {
    let first = id(row, 1)?;
    decode(row, first).map_err(|error| error.locate(|| "a row of `piece`".to_owned(), Some(first)))
}

fn decode(row: &rusqlite::Row<'_>, first: CheckpointId) -> Result<ChangeRow, Error> {
    let whole = row.get::<_, i64>(2)? != 0;
    let data: Arc<[u8]> = bytes(row, 7)?.into();
    let headers: Option<&[u8]> = row.get_ref(6)?.as_bytes_or_null().map_err(rusqlite::Error::from)?;
    let entries = match headers {
        Some(headers) => {
            chunk::entries(headers, data.len()).map_err(|reason| Error::corrupt("a chunk", None, reason))?
        }
        None => vec![Entry {
            checkpoint: first,
            kind: if whole { ChangeKind::Value } else { ChangeKind::Delta },
            encoding: encoding(row.get(5)?)?,
            range: 0..data.len(),
        }],
    };
    let found = ChangeRow { id: row.get(0)?, before: row.get(3)?, uncompacted: row.get(4)?, entries, data };
    let begins = found.entries.first().map(|entry| entry.checkpoint);
    if found.starts_with_value() != whole || begins != Some(first) {
        return Err(Error::corrupt("a chunk", None, "its first entry contradicts the row"));
    }
    Ok(found)
}

/// Returns the changes that make up the field's value at the end of this ancestry, oldest first. Empty if the field was
/// never written.
pub(crate) fn changes(
    db: &Connection,
    ancestry: &[Ancestor],
    field: i64,
) -> Result<Vec<StoredChange>, Error> {
    changes_within(db, ancestry, field, &mut Room::unlimited())
}

/// The same for a read with a limit.
pub(super) fn changes_within(
    db: &Connection,
    ancestry: &[Ancestor],
    field: i64,
    room: &mut Room,
) -> Result<Vec<StoredChange>, Error> {
    let mut query = db.prepare_cached(concat!(
        "SELECT id, first, whole, before, loose, encoding, entries, data, ",
        "octet_length(data) + coalesce(octet_length(entries), 0), coalesce(octet_length(entries) / ?4, 1) FROM piece ",
        "WHERE line = ?1 AND field = ?2 AND first <= ?3 ORDER BY first DESC"
    ))?;
    let mut newest_first = Vec::new();
    for ancestor in ancestry {
        if collect(&mut query, *ancestor, field, &mut newest_first, room)? {
            break;
        }
    }
    let count = newest_first.iter().map(|row| row.entries.len()).sum();
    let mut changes = Vec::with_capacity(count);
    for row in newest_first.into_iter().rev() {
        for entry in row.entries {
            let checkpoint = entry.checkpoint;
            let change = chunk::change(entry, &row.data).ok_or_else(|| {
                Error::corrupt("a chunk", Some(checkpoint), "an entry is longer than the chunk")
            })?;
            changes.push(change);
        }
    }
    Ok(changes)
}

/// Collects the rows of a branch from the newest back to the latest value. Returns `true` if it found a value.
fn collect(
    query: &mut CachedStatement<'_>,
    ancestor: Ancestor,
    field: i64,
    newest_first: &mut Vec<ChangeRow>,
    room: &mut Room,
) -> Result<bool, Error> {
    let until = IdText::from(ancestor.until);
    let mut rows = query.query(params![ancestor.branch, field, until, chunk::HEADER_BYTES as i64])?;
    let mut expected = None;
    while let Some(found) = rows.next()? {
        // SQLite knows the sizes without loading the values.
        room.take(found.get(9)?, found.get(8)?)?;
        let mut found = change_row(found)?;
        // Each row has the number of entries before it, which reveals a missing row.
        if expected.is_some_and(|expected| expected != found.end()) {
            return Err(missing(found.entries.last().map(|entry| entry.checkpoint)));
        }
        expected = Some(found.before);
        found.entries.retain(|entry| entry.checkpoint <= ancestor.until);
        let whole = found.starts_with_value();
        newest_first.push(found);
        if whole {
            break;
        }
    }
    match expected {
        Some(0) => Ok(newest_first.last().is_some_and(ChangeRow::starts_with_value)),
        Some(_) => Err(missing(None)),
        None => Ok(false),
    }
}

pub(super) fn missing(checkpoint: Option<CheckpointId>) -> Error {
    Error::corrupt("a chunk", checkpoint, "some changes are missing")
}
