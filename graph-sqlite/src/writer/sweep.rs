//! Taking away what no remaining checkpoint needs.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, params};
use superstep_store::checkpoint::CheckpointId;

use crate::chunk::{self, Chunk};
use crate::reader::row;
use crate::stored::{id, optional_id};
use crate::trouble::Trouble;

use super::pieces::{copy, replace};

/// The checkpoints of a namespace that there are, in order for each line.
#[derive(Debug)]
pub(super) struct Remaining {
    /// The youngest line first: branches come before what they branched off from.
    lines: Vec<Line>,
    checkpoints: BTreeMap<i64, Vec<CheckpointId>>,
}

#[derive(Debug)]
struct Line {
    id: i64,
    parent: Option<(i64, CheckpointId)>,
}

impl Remaining {
    pub(super) fn find(db: &Connection, namespace: i64) -> Result<Self, Trouble> {
        let mut lines = Vec::new();
        let mut query =
            db.prepare_cached("SELECT id, parent, fork FROM line WHERE namespace = ?1 ORDER BY id DESC")?;
        let mut rows = query.query([namespace])?;
        while let Some(row) = rows.next()? {
            let parent = row.get::<_, Option<i64>>(1)?.zip(optional_id(row, 2)?);
            lines.push(Line { id: row.get(0)?, parent });
        }
        let mut checkpoints: BTreeMap<i64, Vec<CheckpointId>> = BTreeMap::new();
        let mut query =
            db.prepare_cached("SELECT line, name FROM checkpoint WHERE namespace = ?1 ORDER BY name")?;
        let mut rows = query.query([namespace])?;
        while let Some(row) = rows.next()? {
            checkpoints.entry(row.get(0)?).or_default().push(id(row, 1)?);
        }
        Ok(Self { lines, checkpoints })
    }

    pub(super) fn len(&self) -> u64 {
        self.checkpoints.values().map(|line| u64::try_from(line.len()).unwrap_or(u64::MAX)).sum()
    }
}

/// Takes away what nobody needs of a field; how many rows it has looked at.
pub(super) fn field(db: &Connection, remaining: &Remaining, field: i64) -> Result<u64, Trouble> {
    // Where branches that see a line's values of this field begin.
    let mut forks: BTreeMap<i64, Vec<CheckpointId>> = BTreeMap::new();
    let mut seen = 0;
    for line in &remaining.lines {
        let mut readers = remaining.checkpoints.get(&line.id).cloned().unwrap_or_default();
        readers.extend(forks.remove(&line.id).unwrap_or_default());
        readers.sort_unstable();
        let segments = segments(db, line.id, field, &mut seen)?;
        let sees_parent = segments.first().is_some_and(|first| first.last_reader(&readers).is_some());
        if let (Some((parent, fork)), true) = (line.parent, sees_parent) {
            forks.entry(parent).or_default().push(fork);
        }
        for segment in segments {
            segment.cut(db, segment.last_reader(&readers))?;
        }
    }
    Ok(seen)
}

/// What is on a line from one value up to the next. The first one has no value: it goes on from the parent line.
#[derive(Debug, Default)]
struct Segment {
    from: Option<CheckpointId>,
    to: Option<CheckpointId>,
    rows: Vec<Span>,
}

/// The first and the last checkpoint of a row.
#[derive(Debug)]
struct Span {
    row: i64,
    first: CheckpointId,
    last: CheckpointId,
}

fn segments(db: &Connection, line: i64, field: i64, seen: &mut u64) -> Result<Vec<Segment>, Trouble> {
    let mut query = db.prepare_cached(
        "SELECT id, first, whole, entries FROM piece WHERE line = ?1 AND field = ?2 ORDER BY first",
    )?;
    let mut rows = query.query(params![line, field])?;
    let mut segments = Vec::new();
    let mut segment = Segment::default();
    while let Some(row) = rows.next()? {
        *seen += 1;
        let first = id(row, 1)?;
        let headers = row.get_ref(3)?.as_bytes_or_null().map_err(rusqlite::Error::from)?;
        let last = headers.map_or(Some(first), chunk::last).ok_or_else(|| {
            Trouble::damaged("a chunk", Some(first), "the headers of its entries are cut off")
        })?;
        if row.get::<_, i64>(2)? != 0 {
            segment.to = Some(first);
            segments
                .push(std::mem::replace(&mut segment, Segment { from: Some(first), ..Segment::default() }));
        }
        segment.rows.push(Span { row: row.get(0)?, first, last });
    }
    segments.push(segment);
    Ok(segments)
}

impl Segment {
    /// The last of these that sees the segment.
    fn last_reader(&self, readers: &[CheckpointId]) -> Option<CheckpointId> {
        let end = self.to.map_or(readers.len(), |to| readers.partition_point(|reader| *reader < to));
        let last = readers.get(..end)?.last()?;
        self.from.is_none_or(|from| from <= *last).then_some(*last)
    }

    /// Takes away what comes behind its last reader; everything if it has none.
    fn cut(&self, db: &Connection, until: Option<CheckpointId>) -> Result<(), Trouble> {
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

fn shorten(db: &Connection, id: i64, until: CheckpointId) -> Result<(), Trouble> {
    let mut query = db.prepare_cached(
        "SELECT id, first, whole, before, loose, encoding, entries, data FROM piece WHERE id = ?1",
    )?;
    let mut found = query.query_row([id], |found| Ok(row(found)))??;
    found.entries.retain(|entry| entry.checkpoint <= until);
    let mut chunk = Chunk::default();
    copy(&found, &mut chunk)?;
    replace(db, id, &chunk)
}

/// Takes away lines without checkpoints that nothing branched off from.
pub(super) fn lines(db: &Connection, remaining: &Remaining) -> Result<u64, Trouble> {
    let mut needed: BTreeSet<i64> = remaining.checkpoints.keys().copied().collect();
    let mut gone = 0;
    for line in &remaining.lines {
        if needed.contains(&line.id) {
            needed.extend(line.parent.map(|(parent, _)| parent));
        } else {
            gone += 1;
            db.prepare_cached("DELETE FROM line WHERE id = ?1")?.execute([line.id])?;
        }
    }
    Ok(gone)
}

/// Takes away runs of which no checkpoint is left in any namespace of the thread.
pub(super) fn runs(db: &Connection, namespace: i64) -> Result<u64, Trouble> {
    let gone = db
        .prepare_cached(
            "DELETE FROM run WHERE thread = (SELECT thread FROM namespace WHERE id = ?1) AND id NOT IN \
             (SELECT c.run FROM namespace n JOIN checkpoint c ON c.namespace = n.id \
              WHERE n.thread = (SELECT thread FROM namespace WHERE id = ?1))",
        )?
        .execute([namespace])?;
    Ok(u64::try_from(gone).unwrap_or(u64::MAX))
}
