//! The checkpoints that other checkpoints of their thread need.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use rusqlite::{Connection, params};
use superstep_store::checkpoint::{CheckpointId, RecordKey, RecordKind};

use crate::columns::id;
use crate::error::Error;

use super::row_cache::data_version;

/// The records of a thread that say that one checkpoint needs another.
///
/// A thread can have as many namespaces as subgraph calls, so they are read once for all of its namespaces, and again
/// after a write that is not part of this prune.
#[derive(Debug, Default)]
pub(super) struct RetainedCheckpoints {
    thread: Option<i64>,
    /// By the namespace of the checkpoint that is needed.
    by_namespace: HashMap<String, Vec<Retained>>,
    /// The rows of checkpoints that were dropped since the records were read.
    dropped: HashSet<i64>,
    /// Identifies the content of the file after the last transaction of this prune.
    version: (i64, u64),
}

#[derive(Debug)]
struct Retained {
    checkpoint: CheckpointId,
    owner: Owner,
}

/// A checkpoint that needs another.
#[derive(Debug)]
struct Owner {
    namespace: i64,
    name: CheckpointId,
    row: i64,
    created: i64,
}

impl RetainedCheckpoints {
    /// Begins a transaction. Forgets the records if something else has changed the file.
    pub(super) fn begin(&mut self, db: &Connection) -> rusqlite::Result<()> {
        if version(db)? != self.version {
            self.thread = None;
        }
        Ok(())
    }

    /// Ends a transaction.
    pub(super) fn end(&mut self, db: &Connection) -> rusqlite::Result<()> {
        self.version = version(db)?;
        Ok(())
    }

    /// Records that a checkpoint is dropped, and needs no other any more.
    pub(super) fn drop_row(&mut self, row: i64) {
        self.dropped.insert(row);
    }

    /// Returns the checkpoints of a namespace that remaining checkpoints need. Those are the checkpoints of namespaces
    /// with longer names, which were pruned before, and the checkpoints of this namespace that stay.
    pub(super) fn of(
        &mut self,
        db: &Connection,
        (thread, namespace): (i64, i64),
        before: CheckpointId,
        created_before: i64,
    ) -> Result<HashSet<CheckpointId>, Error> {
        if self.thread != Some(thread) {
            self.read(db, thread)?;
        }
        let name: String = db
            .prepare_cached("SELECT name FROM namespace WHERE id = ?1")?
            .query_row([namespace], |row| row.get(0))?;
        let mut all = HashSet::new();
        let Some(records) = self.by_namespace.get(&name) else { return Ok(all) };
        loop {
            let before_round = all.len();
            for Retained { checkpoint, owner } in records {
                if self.dropped.contains(&owner.row) {
                    continue;
                }
                let is_dropped =
                    owner.namespace == namespace && owner.name < before && owner.created < created_before;
                if !is_dropped
                    || all.contains(&owner.name)
                    || (!all.contains(checkpoint) && has_open_interrupt(db, owner.row)?)
                {
                    all.insert(*checkpoint);
                }
            }
            if all.len() == before_round {
                return Ok(all);
            }
        }
    }

    fn read(&mut self, db: &Connection, thread: i64) -> Result<(), Error> {
        self.thread = None;
        self.by_namespace.clear();
        self.dropped.clear();
        let mut query = db.prepare_cached(
            "SELECT c.namespace, c.name, c.id, c.created, n.key \
             FROM namespace s JOIN checkpoint c ON c.namespace = s.id JOIN record n ON n.checkpoint = c.id \
             WHERE s.thread = ?1 AND n.task = ?2 AND n.kind = ?3",
        )?;
        let mut rows = query.query(params![thread, RecordKey::NO_TASK, RecordKind::Retained.code()])?;
        while let Some(row) = rows.next()? {
            let key = RecordKey::new(RecordKey::NO_TASK, RecordKind::Retained, row.get::<_, Arc<str>>(4)?);
            let Some((checkpoint, namespace)) = key.retained() else { continue };
            let owner =
                Owner { namespace: row.get(0)?, name: id(row, 1)?, row: row.get(2)?, created: row.get(3)? };
            let retained = Retained { checkpoint, owner };
            self.by_namespace.entry(namespace.to_owned()).or_default().push(retained);
        }
        self.thread = Some(thread);
        Ok(())
    }
}

/// Identifies the content of the file: other connections change the first number, this one the second.
fn version(db: &Connection) -> rusqlite::Result<(i64, u64)> {
    Ok((data_version(db)?, db.total_changes()))
}

/// Returns `true` if a checkpoint has an open interrupt.
pub(super) fn has_open_interrupt(db: &Connection, checkpoint: i64) -> rusqlite::Result<bool> {
    db.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM record q WHERE q.checkpoint = ?1 AND q.kind = ?2 AND NOT EXISTS \
         (SELECT 1 FROM record a WHERE a.checkpoint = ?1 AND a.kind = ?3 AND a.task = q.task AND a.key = q.key))",
    )?
    .query_row(params![checkpoint, RecordKind::Interrupt.code(), RecordKind::Answer.code()], |row| row.get(0))
}
