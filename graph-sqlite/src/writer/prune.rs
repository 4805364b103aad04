use std::collections::{HashSet, VecDeque};

use rusqlite::{Connection, OptionalExtension as _, params};
use superstep_store::checkpoint::{CheckpointId, Prune, Pruned, RecordKey, RecordKind};

use crate::stored::{id, millis};
use crate::trouble::Trouble;

use super::delete::find;
use super::lines::fields;
use super::sweep::{self, Remaining};
use super::{Session, Turn};

/// How many rows one transaction looks at or changes, about: so long do other writers wait.
const TURN: u64 = 512;

/// How many pages one transaction gives back to the file system.
const PAGES: i64 = 256;

/// A pruning that is under way, one short transaction after the other.
#[derive(Debug)]
pub(crate) struct Pruning {
    wanted: Prune,
    /// The namespaces that it has not come to yet, once they are known.
    namespaces: Option<VecDeque<i64>>,
    current: Option<Current>,
    dropped: u64,
}

#[derive(Debug)]
struct Current {
    namespace: i64,
    /// Only those before this one.
    before: CheckpointId,
    /// Only those behind this one: it was dropped, or was seen to stay.
    after: Option<CheckpointId>,
    dropped: u64,
    /// Those that a checkpoint needs which stays.
    needed: HashSet<CheckpointId>,
    /// The fields that are still to be swept, once the checkpoints are dropped.
    fields: Option<Vec<i64>>,
}

impl Pruning {
    pub(crate) fn new(wanted: Prune) -> Self {
        Self { wanted, namespaces: None, current: None, dropped: 0 }
    }

    /// Does what fits into one transaction.
    pub(crate) fn turn(&mut self, session: &mut Session) -> Result<Turn<Pruned>, Trouble> {
        if self.wanted.keep_last.is_none() && self.wanted.older_than.is_none() {
            return Ok(Turn::Done(Pruned::default()));
        }
        session.known.forget();
        let mut work = 0;
        while work < TURN {
            let Some(done) = self.step(&session.db)? else {
                return if self.dropped == 0 || shrink(&session.db)? {
                    Ok(Turn::Done(Pruned::new(self.dropped)))
                } else {
                    Ok(Turn::More)
                };
            };
            work += done;
        }
        Ok(Turn::More)
    }

    /// Does the next thing; how much it was, or `None` if everything is done.
    fn step(&mut self, db: &Connection) -> Result<Option<u64>, Trouble> {
        let namespaces = match &mut self.namespaces {
            Some(namespaces) => namespaces,
            unknown => unknown.insert(scope(db, &self.wanted)?),
        };
        let Some(current) = &mut self.current else {
            let Some(namespace) = namespaces.pop_front() else { return Ok(None) };
            self.current = begin(db, namespace, &self.wanted)?;
            return Ok(Some(1));
        };
        let Some(fields_left) = &mut current.fields else {
            let seen = current.drop_some(db, &self.wanted)?;
            if seen == 0 {
                self.dropped += current.dropped;
                current.fields =
                    Some(if current.dropped == 0 { vec![] } else { fields(db, current.namespace)? });
            }
            return Ok(Some(seen + 1));
        };
        let remaining = match (fields_left.is_empty(), current.dropped) {
            (true, 0) => {
                self.current = None;
                return Ok(Some(1));
            }
            _ => Remaining::find(db, current.namespace)?,
        };
        if let Some(field) = fields_left.pop() {
            return Ok(Some(sweep::field(db, &remaining, field)? + remaining.len() / 16));
        }
        let done = sweep::lines(db, &remaining)? + sweep::runs(db, current.namespace)?;
        self.current = None;
        Ok(Some(done + 1))
    }
}

fn scope(db: &Connection, wanted: &Prune) -> rusqlite::Result<VecDeque<i64>> {
    match wanted.thread.as_deref() {
        Some(thread) => match find(db, thread)? {
            // Who needs something in another namespace comes first: its name is longer.
            Some(thread) => db
                .prepare_cached("SELECT id FROM namespace WHERE thread = ?1 ORDER BY length(name) DESC, id")?
                .query_map([thread], |row| row.get(0))?
                .collect(),
            None => Ok(VecDeque::new()),
        },
        None => db
            .prepare_cached("SELECT id FROM namespace ORDER BY thread, length(name) DESC, id")?
            .query_map([], |row| row.get(0))?
            .collect(),
    }
}

fn begin(db: &Connection, namespace: i64, wanted: &Prune) -> Result<Option<Current>, Trouble> {
    // The head always stays.
    let kept = i64::try_from(wanted.keep_last.unwrap_or(1).max(1)).unwrap_or(i64::MAX);
    let oldest_kept = db
        .prepare_cached(
            "SELECT name FROM checkpoint WHERE namespace = ?1 ORDER BY name DESC LIMIT 1 OFFSET ?2",
        )?
        .query_row([namespace, kept - 1], |row| Ok(id(row, 0)))
        .optional()?;
    let Some(before) = oldest_kept.transpose()? else { return Ok(None) };
    let needed = needed(db, namespace, before, wanted)?;
    Ok(Some(Current { namespace, before, after: None, dropped: 0, needed, fields: None }))
}

/// A record of what a checkpoint needs.
struct Need {
    /// The namespace, the name, the row and the time of the checkpoint that has it.
    of: (i64, CheckpointId, i64, i64),
    needed: CheckpointId,
}

/// The checkpoints of a namespace that those need which stay: those of namespaces with longer names, which have been pruned
/// before, and those of this one that are not dropped.
fn needed(
    db: &Connection,
    namespace: i64,
    before: CheckpointId,
    wanted: &Prune,
) -> Result<HashSet<CheckpointId>, Trouble> {
    let name: String = db
        .prepare_cached("SELECT name FROM namespace WHERE id = ?1")?
        .query_row([namespace], |row| row.get(0))?;
    let mut query = db.prepare_cached(
        "SELECT c.namespace, c.name, c.id, c.created, n.key \
         FROM namespace s JOIN checkpoint c ON c.namespace = s.id JOIN record n ON n.checkpoint = c.id \
         WHERE s.thread = (SELECT thread FROM namespace WHERE id = ?1) AND n.task = ?2 AND n.kind = ?3",
    )?;
    let mut rows = query.query(params![namespace, RecordKey::NO_TASK, RecordKind::Retained.code()])?;
    let mut needs = Vec::new();
    while let Some(row) = rows.next()? {
        let key = RecordKey { task: RecordKey::NO_TASK, kind: RecordKind::Retained, key: row.get(4)? };
        let Some((needed, _)) = key.retained().filter(|(_, within)| *within == name) else { continue };
        needs.push(Need { of: (row.get(0)?, id(row, 1)?, row.get(2)?, row.get(3)?), needed });
    }
    let made_before = wanted.older_than.map_or(i64::MAX, millis);
    let mut all = HashSet::new();
    loop {
        let known = all.len();
        for Need { of: (within, name, row, created), needed } in &needs {
            let goes = *within == namespace && *name < before && *created < made_before;
            if !goes || all.contains(name) || (!all.contains(needed) && waits(db, *row)?) {
                all.insert(*needed);
            }
        }
        if all.len() == known {
            return Ok(all);
        }
    }
}

impl Current {
    /// Drops some checkpoints, the oldest first; how many it has looked at, 0 if there are no more.
    fn drop_some(&mut self, db: &Connection, wanted: &Prune) -> Result<u64, Trouble> {
        let mut query = db.prepare_cached(
            "SELECT name, id FROM checkpoint WHERE namespace = ?1 AND name > ?2 AND name < ?3 AND created < ?4 \
             ORDER BY name LIMIT ?5",
        )?;
        let after = self.after.map(|after| after.to_string()).unwrap_or_default();
        let made_before = wanted.older_than.map_or(i64::MAX, millis);
        let limits = params![self.namespace, after, self.before.to_string(), made_before, TURN.cast_signed()];
        let found: Vec<(CheckpointId, i64)> = {
            let mut rows = query.query(limits)?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                found.push((id(row, 0)?, row.get(1)?));
            }
            found
        };
        for (name, row) in &found {
            if !self.needed.contains(name) && (!waits(db, *row)? || self.is_followed(db, *name)?) {
                db.prepare_cached("DELETE FROM record WHERE checkpoint = ?1")?.execute([row])?;
                db.prepare_cached("DELETE FROM checkpoint WHERE id = ?1")?.execute([row])?;
                self.dropped += 1;
            }
        }
        self.after = found.last().map(|(name, _)| *name).or(self.after);
        Ok(u64::try_from(found.len()).unwrap_or(u64::MAX))
    }

    fn is_followed(&self, db: &Connection, checkpoint: CheckpointId) -> rusqlite::Result<bool> {
        let name = checkpoint.to_string();
        db.prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM checkpoint WHERE namespace = ?1 AND name > ?2 AND parent = ?2)",
        )?
        .query_row(params![self.namespace, name], |row| row.get(0))
    }
}

/// Whether a question of a checkpoint has no answer.
fn waits(db: &Connection, checkpoint: i64) -> rusqlite::Result<bool> {
    db.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM record q WHERE q.checkpoint = ?1 AND q.kind = ?2 AND NOT EXISTS \
         (SELECT 1 FROM record a WHERE a.checkpoint = ?1 AND a.kind = ?3 AND a.task = q.task AND a.key = q.key))",
    )?
    .query_row(params![checkpoint, RecordKind::Interrupt.code(), RecordKind::Answer.code()], |row| row.get(0))
}

/// Gives some free pages back to the file system; whether all are.
fn shrink(db: &Connection) -> rusqlite::Result<bool> {
    let free = || db.prepare_cached("PRAGMA freelist_count")?.query_row([], |row| row.get::<_, i64>(0));
    let before = free()?;
    let mut vacuum = db.prepare_cached(&format!("PRAGMA incremental_vacuum({PAGES})"))?;
    let mut rows = vacuum.query([])?;
    while rows.next()?.is_some() {}
    let left = free()?;
    // A file that somebody has made without the setting gives nothing back.
    Ok(left == 0 || left == before)
}
