use std::collections::{HashSet, VecDeque};

use rusqlite::{Connection, OptionalExtension as _, params};
use superstep_store::checkpoint::{CheckpointId, Prune, Pruned};

use crate::columns::{id, millis};
use crate::error::Error;

use super::branches::fields;
use super::delete::find_thread;
use super::garbage::{self, RemainingCheckpoints};
use super::retained::{RetainedCheckpoints, has_open_interrupt};
use super::{Session, WriteStatus};

/// The approximate number of rows that one transaction reads or changes. Other writers wait that long.
const ROWS_PER_TRANSACTION: u64 = 512;

/// The number of pages that one transaction returns to the file system.
const PAGES_PER_TRANSACTION: i64 = 256;

/// A prune in progress, in a sequence of short transactions.
#[derive(Debug)]
pub(crate) struct Pruning {
    wanted: Prune,
    /// The namespaces that are left to prune, once they are known. Those of a thread follow one another.
    namespaces: Option<VecDeque<(i64, i64)>>,
    current: Option<Current>,
    retained: RetainedCheckpoints,
    dropped: u64,
    /// The number of checkpoints that were dropped from the current thread.
    dropped_in_thread: u64,
}

#[derive(Debug)]
struct Current {
    thread: i64,
    namespace: i64,
    /// Prunes only checkpoints before this one.
    before: CheckpointId,
    /// Prunes only checkpoints after this one, the last that was visited.
    after: Option<CheckpointId>,
    dropped: u64,
    /// The checkpoints that a remaining checkpoint needs.
    retained: HashSet<CheckpointId>,
    /// The fields that are left to clean up, once the checkpoints are dropped.
    fields: Option<Vec<i64>>,
}

impl Pruning {
    pub(crate) fn new(wanted: Prune) -> Self {
        Self {
            wanted,
            namespaces: None,
            current: None,
            retained: RetainedCheckpoints::default(),
            dropped: 0,
            dropped_in_thread: 0,
        }
    }

    /// Does the work of one transaction.
    pub(crate) fn advance(&mut self, session: &mut Session) -> Result<WriteStatus<Pruned>, Error> {
        if self.wanted.keep_last.is_none() && self.wanted.older_than.is_none() {
            return Ok(WriteStatus::Done(Pruned::default()));
        }
        session.row_cache.clear();
        self.retained.begin(&session.db)?;
        let mut work = 0;
        while work < ROWS_PER_TRANSACTION {
            let Some(done) = self.step(&session.db)? else {
                return if self.dropped == 0 || shrink(&session.db)? {
                    Ok(WriteStatus::Done(Pruned::new(self.dropped)))
                } else {
                    Ok(WriteStatus::More)
                };
            };
            work += done;
        }
        self.retained.end(&session.db)?;
        Ok(WriteStatus::More)
    }

    /// Does the next piece of work. Returns its size in rows, or `None` if nothing is left.
    fn step(&mut self, db: &Connection) -> Result<Option<u64>, Error> {
        let namespaces = match &mut self.namespaces {
            Some(namespaces) => namespaces,
            unknown => unknown.insert(namespaces_to_prune(db, &self.wanted)?),
        };
        let Some(current) = &mut self.current else {
            let Some(namespace) = namespaces.pop_front() else { return Ok(None) };
            self.current = begin_namespace(db, namespace, &self.wanted, &mut self.retained)?;
            if self.current.is_none() {
                return Ok(Some(1 + self.leave_namespace(db, namespace.0)?));
            }
            return Ok(Some(1));
        };
        let Some(fields_left) = &mut current.fields else {
            let seen = current.drop_some(db, &self.wanted, &mut self.retained)?;
            if seen == 0 {
                self.dropped += current.dropped;
                self.dropped_in_thread += current.dropped;
                current.fields =
                    Some(if current.dropped == 0 { vec![] } else { fields(db, current.namespace)? });
            }
            return Ok(Some(seen + 1));
        };
        let mut done = 0;
        if !fields_left.is_empty() || current.dropped > 0 {
            let remaining = RemainingCheckpoints::find(db, current.namespace)?;
            if let Some(field) = fields_left.pop() {
                return Ok(Some(garbage::collect_field(db, &remaining, field)? + remaining.len() / 16));
            }
            done = garbage::collect_branches(db, &remaining)?;
        }
        let thread = current.thread;
        self.current = None;
        Ok(Some(1 + done + self.leave_namespace(db, thread)?))
    }

    /// Collects the runs of a thread after its last namespace.
    fn leave_namespace(&mut self, db: &Connection, thread: i64) -> Result<u64, Error> {
        let next = self.namespaces.as_ref().and_then(VecDeque::front);
        if next.is_some_and(|(next, _)| *next == thread) || std::mem::take(&mut self.dropped_in_thread) == 0 {
            return Ok(0);
        }
        garbage::collect_runs(db, thread)
    }
}

/// Returns the namespaces with their threads.
fn namespaces_to_prune(db: &Connection, wanted: &Prune) -> rusqlite::Result<VecDeque<(i64, i64)>> {
    let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    match wanted.thread.as_deref() {
        Some(thread) => match find_thread(db, thread)? {
            // Longer names first: their checkpoints may need checkpoints of a namespace with a shorter name.
            Some(thread) => db
                .prepare_cached(
                    "SELECT thread, id FROM namespace WHERE thread = ?1 ORDER BY length(name) DESC, id",
                )?
                .query_map([thread], row)?
                .collect(),
            None => Ok(VecDeque::new()),
        },
        None => db
            .prepare_cached("SELECT thread, id FROM namespace ORDER BY thread, length(name) DESC, id")?
            .query_map([], row)?
            .collect(),
    }
}

fn begin_namespace(
    db: &Connection,
    (thread, namespace): (i64, i64),
    wanted: &Prune,
    retained: &mut RetainedCheckpoints,
) -> Result<Option<Current>, Error> {
    // The head is always kept.
    let kept = i64::try_from(wanted.keep_last.unwrap_or(1).max(1)).unwrap_or(i64::MAX);
    let oldest_kept = db
        .prepare_cached(
            "SELECT name FROM checkpoint WHERE namespace = ?1 ORDER BY name DESC LIMIT 1 OFFSET ?2",
        )?
        .query_row([namespace, kept - 1], |row| Ok(id(row, 0)))
        .optional()?;
    let Some(before) = oldest_kept.transpose()? else { return Ok(None) };
    let created_before = wanted.older_than.map_or(i64::MAX, millis);
    let retained = retained.of(db, (thread, namespace), before, created_before)?;
    Ok(Some(Current { thread, namespace, before, after: None, dropped: 0, retained, fields: None }))
}

impl Current {
    /// Drops some checkpoints, oldest first. Returns the number of visited checkpoints, 0 if none are left.
    fn drop_some(
        &mut self,
        db: &Connection,
        wanted: &Prune,
        retained: &mut RetainedCheckpoints,
    ) -> Result<u64, Error> {
        let mut query = db.prepare_cached(
            "SELECT name, id FROM checkpoint WHERE namespace = ?1 AND name > ?2 AND name < ?3 AND created < ?4 \
             ORDER BY name LIMIT ?5",
        )?;
        let after = self.after.map(|after| after.to_string()).unwrap_or_default();
        let created_before = wanted.older_than.map_or(i64::MAX, millis);
        let limits = params![
            self.namespace,
            after,
            self.before.to_string(),
            created_before,
            ROWS_PER_TRANSACTION.cast_signed()
        ];
        let found: Vec<(CheckpointId, i64)> = {
            let mut rows = query.query(limits)?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                found.push((id(row, 0)?, row.get(1)?));
            }
            found
        };
        for (name, row) in &found {
            if !self.retained.contains(name)
                && (!has_open_interrupt(db, *row)? || self.has_child(db, *name)?)
            {
                db.prepare_cached("DELETE FROM record WHERE checkpoint = ?1")?.execute([row])?;
                db.prepare_cached("DELETE FROM checkpoint WHERE id = ?1")?.execute([row])?;
                retained.drop_row(*row);
                self.dropped += 1;
            }
        }
        self.after = found.last().map(|(name, _)| *name).or(self.after);
        Ok(u64::try_from(found.len()).unwrap_or(u64::MAX))
    }

    fn has_child(&self, db: &Connection, checkpoint: CheckpointId) -> rusqlite::Result<bool> {
        let name = checkpoint.to_string();
        db.prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM checkpoint WHERE namespace = ?1 AND name > ?2 AND parent = ?2)",
        )?
        .query_row(params![self.namespace, name], |row| row.get(0))
    }
}

/// Returns some free pages to the file system. Returns `true` if none are left, or if the file cannot shrink.
fn shrink(db: &Connection) -> rusqlite::Result<bool> {
    let free = || db.prepare_cached("PRAGMA freelist_count")?.query_row([], |row| row.get::<_, i64>(0));
    let before = free()?;
    let mut vacuum = db.prepare_cached(&format!("PRAGMA incremental_vacuum({PAGES_PER_TRANSACTION})"))?;
    let mut rows = vacuum.query([])?;
    while rows.next()?.is_some() {}
    let left = free()?;
    // A file that was created without `auto_vacuum` never shrinks.
    Ok(left == 0 || left == before)
}
