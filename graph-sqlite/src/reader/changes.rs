//! The changes of a field on the way to a checkpoint, across branches.

use rusqlite::{CachedStatement, Connection, OptionalExtension as _, params};
use superstep_store::checkpoint::{ChangeKind, CheckpointId, StoredChange};

use crate::chunk;
use crate::columns::{IdText, bytes, id, optional_id, payload};
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
    pub(crate) head: RowHead,
    /// Oldest first.
    pub(crate) changes: Vec<StoredChange>,
}

/// A row without its changes.
#[derive(Debug)]
pub(crate) struct RowHead {
    pub(crate) id: i64,
    /// The number of changes before this row, since the latest value.
    pub(crate) before: i64,
    pub(crate) uncompacted: i64,
    /// The length of the row's data.
    pub(crate) bytes: usize,
    /// The number of its changes.
    count: usize,
    pub(crate) starts_with_value: bool,
}

impl RowHead {
    /// Returns the number of changes up to the end of this row, since the latest value.
    pub(crate) fn end(&self) -> i64 {
        self.before.saturating_add(i64::try_from(self.count).unwrap_or(i64::MAX))
    }
}

/// Reads a row from the columns id, first, whole, before, loose, encoding, entries and data.
pub(crate) fn change_row(row: &rusqlite::Row<'_>) -> Result<ChangeRow, Error> {
    let mut changes = Vec::new();
    let head = read_row(row, &mut changes)?;
    Ok(ChangeRow { head, changes })
}

/// The same, and adds the changes to a list, oldest first.
fn read_row(row: &rusqlite::Row<'_>, changes: &mut Vec<StoredChange>) -> Result<RowHead, Error> {
    let first = id(row, 1)?;
    decode(row, first, changes).map_err(|error| error.locate(|| "a row of `piece`".to_owned(), Some(first)))
}

fn decode(
    row: &rusqlite::Row<'_>,
    first: CheckpointId,
    changes: &mut Vec<StoredChange>,
) -> Result<RowHead, Error> {
    let from = changes.len();
    let whole = row.get::<_, i64>(2)? != 0;
    let headers: Option<&[u8]> = row.get_ref(6)?.as_bytes_or_null().map_err(rusqlite::Error::from)?;
    let bytes = match headers {
        Some(headers) => {
            let data = bytes(row, 7)?.into();
            chunk::read_changes(headers, &data, changes)
                .map_err(|reason| Error::corrupt("a chunk", None, reason))?;
            data.len()
        }
        None => {
            let kind = if whole { ChangeKind::Value } else { ChangeKind::Delta };
            let data = payload(row, row.get(5)?, 7)?;
            let bytes = data.len();
            changes.push(StoredChange::new(first, kind, data));
            bytes
        }
    };
    let begins = changes.get(from).map(|change| (change.checkpoint, change.kind == ChangeKind::Value));
    if begins != Some((first, whole)) {
        return Err(Error::corrupt("a chunk", None, "its first entry contradicts the row"));
    }
    Ok(RowHead {
        id: row.get(0)?,
        before: row.get(3)?,
        uncompacted: row.get(4)?,
        bytes,
        count: changes.len() - from,
        starts_with_value: whole,
    })
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
    let mut changes = Vec::new();
    for ancestor in ancestry {
        if collect(&mut query, *ancestor, field, &mut changes, room)? {
            break;
        }
    }
    changes.reverse();
    Ok(changes)
}

/// The greatest number of changes for which memory is reserved before they are read.
const MOST_RESERVED: usize = 4096;

/// Adds the changes of a branch to a list, from the newest back to the latest value. Returns `true` if it found a value.
fn collect(
    query: &mut CachedStatement<'_>,
    ancestor: Ancestor,
    field: i64,
    newest_first: &mut Vec<StoredChange>,
    room: &mut Room,
) -> Result<bool, Error> {
    let until = IdText::from(ancestor.until);
    let mut rows = query.query(params![ancestor.branch, field, until, chunk::HEADER_BYTES as i64])?;
    let (mut expected, mut whole) = (None, false);
    while let Some(found) = rows.next()? {
        // SQLite knows the sizes without loading the values.
        let count = found.get(9)?;
        room.take(count, found.get(8)?)?;
        let from = newest_first.len();
        if expected.is_none() {
            // Only a hint: an error in the column is reported with its row.
            let before: i64 = found.get(3).unwrap_or_default();
            let all = usize::try_from(before.saturating_add(count));
            newest_first.reserve(all.unwrap_or_default().min(MOST_RESERVED));
        }
        let found = read_row(found, newest_first)?;
        // Each row has the number of entries before it, which reveals a missing row.
        if expected.is_some_and(|expected| expected != found.end()) {
            return Err(missing(newest_first.last().map(|change| change.checkpoint)));
        }
        expected = Some(found.before);
        let read = newest_first.get_mut(from..).unwrap_or_default();
        let visible = read.partition_point(|change| change.checkpoint <= ancestor.until);
        read.get_mut(..visible).unwrap_or_default().reverse();
        newest_first.truncate(from + visible);
        whole = found.starts_with_value;
        if whole {
            break;
        }
    }
    match expected {
        Some(0) => Ok(whole),
        Some(_) => Err(missing(None)),
        None => Ok(false),
    }
}

pub(super) fn missing(checkpoint: Option<CheckpointId>) -> Error {
    Error::corrupt("a chunk", checkpoint, "some changes are missing")
}
