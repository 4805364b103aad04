//! Garbage collection after a prune: deletes the rows that no remaining checkpoint needs.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, params};
use superstep_store::checkpoint::CheckpointId;

use crate::chunk::{self, Chunk};
use crate::columns::{id, optional_id};
use crate::error::Error;
use crate::reader::change_row;

use super::changes::{append_changes, replace_row};

/// The remaining checkpoints of a namespace, in order for each branch.
#[derive(Debug)]
pub(super) struct RemainingCheckpoints {
    /// The branches, newest first, so that children come before their parents.
    branches: Vec<Branch>,
    checkpoints: BTreeMap<i64, Vec<CheckpointId>>,
}

#[derive(Debug)]
struct Branch {
    id: i64,
    parent: Option<(i64, CheckpointId)>,
}

impl RemainingCheckpoints {
    pub(super) fn find(db: &Connection, namespace: i64) -> Result<Self, Error> {
        let mut branches = Vec::new();
        let mut query =
            db.prepare_cached("SELECT id, parent, fork FROM line WHERE namespace = ?1 ORDER BY id DESC")?;
        let mut rows = query.query([namespace])?;
        while let Some(row) = rows.next()? {
            let parent = row.get::<_, Option<i64>>(1)?.zip(optional_id(row, 2)?);
            branches.push(Branch { id: row.get(0)?, parent });
        }
        let mut checkpoints: BTreeMap<i64, Vec<CheckpointId>> = BTreeMap::new();
        let mut query =
            db.prepare_cached("SELECT line, name FROM checkpoint WHERE namespace = ?1 ORDER BY name")?;
        let mut rows = query.query([namespace])?;
        while let Some(row) = rows.next()? {
            checkpoints.entry(row.get(0)?).or_default().push(id(row, 1)?);
        }
        Ok(Self { branches, checkpoints })
    }

    pub(super) fn len(&self) -> u64 {
        self.checkpoints.values().map(|branch| u64::try_from(branch.len()).unwrap_or(u64::MAX)).sum()
    }
}

/// Deletes the unneeded changes of a field. Returns the number of visited rows.
pub(super) fn collect_field(
    db: &Connection,
    remaining: &RemainingCheckpoints,
    field: i64,
) -> Result<u64, Error> {
    // For each branch, the fork points of children that read this field from it.
    let mut forks: BTreeMap<i64, Vec<CheckpointId>> = BTreeMap::new();
    let mut seen = 0;
    for branch in &remaining.branches {
        let mut readers = remaining.checkpoints.get(&branch.id).cloned().unwrap_or_default();
        readers.extend(forks.remove(&branch.id).unwrap_or_default());
        readers.sort_unstable();
        let segments = segments(db, branch.id, field, &mut seen)?;
        let sees_parent = segments.first().is_some_and(|first| first.last_reader(&readers).is_some());
        if let (Some((parent, fork)), true) = (branch.parent, sees_parent) {
            forks.entry(parent).or_default().push(fork);
        }
        for segment in segments {
            segment.cut(db, segment.last_reader(&readers))?;
        }
    }
    Ok(seen)
}

/// The rows of a branch from one value up to the next. The first segment has no value: its deltas continue the parent
/// branch.
#[derive(Debug, Default)]
struct Segment {
    from: Option<CheckpointId>,
    to: Option<CheckpointId>,
    rows: Vec<RowSpan>,
}

/// A row, with the first and last checkpoint of its entries.
#[derive(Debug)]
struct RowSpan {
    row: i64,
    first: CheckpointId,
    last: CheckpointId,
}

fn segments(db: &Connection, branch: i64, field: i64, seen: &mut u64) -> Result<Vec<Segment>, Error> {
    let mut query = db.prepare_cached(
        "SELECT id, first, whole, entries FROM piece WHERE line = ?1 AND field = ?2 ORDER BY first",
    )?;
    let mut rows = query.query(params![branch, field])?;
    let mut segments = Vec::new();
    let mut segment = Segment::default();
    while let Some(row) = rows.next()? {
        *seen += 1;
        let first = id(row, 1)?;
        let headers = row.get_ref(3)?.as_bytes_or_null().map_err(rusqlite::Error::from)?;
        let last = headers.map_or(Some(first), chunk::last).ok_or_else(|| {
            Error::corrupt("a chunk", Some(first), "the headers of its entries are cut off")
        })?;
        if row.get::<_, i64>(2)? != 0 {
            segment.to = Some(first);
            segments
                .push(std::mem::replace(&mut segment, Segment { from: Some(first), ..Segment::default() }));
        }
        segment.rows.push(RowSpan { row: row.get(0)?, first, last });
    }
    segments.push(segment);
    Ok(segments)
}

impl Segment {
    /// Returns the last reader that sees the segment.
    fn last_reader(&self, readers: &[CheckpointId]) -> Option<CheckpointId> {
        let end = self.to.map_or(readers.len(), |to| readers.partition_point(|reader| *reader < to));
        let last = readers.get(..end)?.last()?;
        self.from.is_none_or(|from| from <= *last).then_some(*last)
    }

    /// Deletes the changes after `until`, or all of them if it is `None`.
    fn cut(&self, db: &Connection, until: Option<CheckpointId>) -> Result<(), Error> {
        for span in &self.rows {
            if until.is_none_or(|until| until < span.first) {
                db.prepare_cached("DELETE FROM piece WHERE id = ?1")?.execute([span.row])?;
            } else if let Some(until) = until.filter(|until| *until < span.last) {
                shorten(db, span.row, until)?;
            }
        }
        Ok(())
    }
}

fn shorten(db: &Connection, id: i64, until: CheckpointId) -> Result<(), Error> {
    let mut query = db.prepare_cached(
        "SELECT id, first, whole, before, loose, encoding, entries, data FROM piece WHERE id = ?1",
    )?;
    let mut found = query.query_row([id], |found| Ok(change_row(found)))??;
    found.changes.retain(|change| change.checkpoint <= until);
    let mut chunk = Chunk::default();
    append_changes(&found, &mut chunk);
    replace_row(db, id, &chunk)
}

/// Deletes branches that have neither checkpoints nor remaining children.
pub(super) fn collect_branches(db: &Connection, remaining: &RemainingCheckpoints) -> Result<u64, Error> {
    let mut needed: BTreeSet<i64> = remaining.checkpoints.keys().copied().collect();
    let mut deleted = 0;
    for branch in &remaining.branches {
        if needed.contains(&branch.id) {
            needed.extend(branch.parent.map(|(parent, _)| parent));
        } else {
            deleted += 1;
            db.prepare_cached("DELETE FROM line WHERE id = ?1")?.execute([branch.id])?;
        }
    }
    Ok(deleted)
}

/// Deletes runs without a remaining checkpoint in any namespace of the thread.
pub(super) fn collect_runs(db: &Connection, thread: i64) -> Result<u64, Error> {
    let deleted = db
        .prepare_cached(
            "DELETE FROM run WHERE thread = ?1 AND id NOT IN \
             (SELECT c.run FROM namespace n JOIN checkpoint c ON c.namespace = n.id WHERE n.thread = ?1)",
        )?
        .execute([thread])?;
    Ok(u64::try_from(deleted).unwrap_or(u64::MAX))
}
