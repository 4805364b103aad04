use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use rusqlite::{Connection, OptionalExtension as _, params};
use superstep_store::checkpoint::{BatchWrite, CheckpointId, RunRecord, WriteBatch};

use crate::columns::{StatusColumns, text};
use crate::error::Error;
use crate::reader::head;

/// Compaction starts at this many uncompacted rows.
pub(super) const COMPACT_AT: i64 = 64;

/// The rows that the writer remembers, so that the cost of a superstep is the cost of its inserts.
///
/// All of it is in the file too. The cache is cleared after another connection has written, and after a rollback.
#[derive(Debug, Default)]
pub(super) struct RowCache {
    /// The version of the file at the last call of [`revalidate`](Self::revalidate).
    version: Option<i64>,
    threads: HashMap<Arc<str>, CachedThread>,
}

/// The maximum number of cached threads. Beyond it, all are dropped.
const MAX_THREADS: usize = 1_024;

#[derive(Debug)]
pub(super) struct CachedThread {
    pub(super) id: i64,
    pub(super) epoch: u64,
    pub(super) origin: Arc<str>,
    pub(super) status: StatusColumns,
    /// The run whose metadata are in the index, once it is known.
    pub(super) indexed_run: Option<i64>,
    run: Option<(Arc<RunRecord>, i64)>,
    namespaces: HashMap<Arc<str>, CachedNamespace>,
}

#[derive(Debug)]
pub(super) struct CachedNamespace {
    pub(super) id: i64,
    /// The newest checkpoint and its branch.
    pub(super) head: Option<(CheckpointId, i64)>,
    pub(super) fields: HashMap<Box<str>, i64>,
    /// The last known end of each field, with its branch.
    pub(super) field_ends: HashMap<i64, (i64, FieldEnd)>,
    /// The time of the last commit of this process.
    pub(super) written: Option<Instant>,
    /// `true` if the head was too large to be read on its caller's thread.
    pub(super) is_large: bool,
}

/// The end of a field's rows on a branch, where the next row goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FieldEnd {
    /// The number of entries since the latest value.
    pub(super) entries: i64,
    /// The number of rows at the end that are not compacted yet.
    pub(super) uncompacted: i64,
}

impl RowCache {
    pub(super) fn clear(&mut self) {
        self.threads.clear();
    }

    /// Returns `true` if another connection has written to the file since the last call of
    /// [`revalidate`](Self::revalidate).
    pub(super) fn is_outdated(&self, version: i64) -> bool {
        self.version != Some(version)
    }

    /// Returns `true` if the cache has read the file.
    pub(super) fn is_in_use(&self) -> bool {
        self.version.is_some()
    }

    /// Returns `true` if a commit of this batch only inserts rows: it reads none that are not cached, forks no branch and
    /// compacts no rows.
    pub(super) fn is_prepared_for(&self, batch: &WriteBatch) -> bool {
        let Some(thread) = self.threads.get(&batch.thread) else { return false };
        let Some(namespace) = thread.namespaces.get(&batch.namespace) else { return false };
        if rolls_back(batch) {
            return false;
        }
        let mut checkpoints = batch.writes.iter().filter_map(|write| match write {
            BatchWrite::Checkpoint(new) => Some(new),
            BatchWrite::Records { .. } | BatchWrite::RollBack { .. } => None,
        });
        let Some(new) = checkpoints.next() else { return true };
        checkpoints.next().is_none()
            && new.checkpoint.parent == namespace.head.map(|(head, _)| head)
            && new.changes.iter().all(|change| {
                let end =
                    namespace.fields.get(&*change.field).and_then(|field| namespace.field_ends.get(field));
                end.is_some_and(|(_, end)| end.uncompacted + 1 < COMPACT_AT)
            })
    }

    /// Returns a namespace that is in the cache.
    pub(super) fn namespace(&mut self, thread: &str, namespace: &str) -> Option<&mut CachedNamespace> {
        self.threads.get_mut(thread)?.namespaces.get_mut(namespace)
    }

    /// Clears the cache if another connection has written to the file since the last call.
    pub(super) fn revalidate(&mut self, version: i64) {
        if self.is_outdated(version) || self.threads.len() > MAX_THREADS {
            self.clear();
        }
        self.version = Some(version);
    }

    pub(super) fn thread(
        &mut self,
        db: &Connection,
        name: &Arc<str>,
    ) -> Result<Option<&mut CachedThread>, Error> {
        if !self.threads.contains_key(name) {
            let Some(thread) = CachedThread::find(db, name)? else { return Ok(None) };
            self.threads.insert(Arc::clone(name), thread);
        }
        Ok(self.threads.get_mut(name))
    }
}

/// Returns a number that changes when another connection writes to the file.
pub(super) fn data_version(db: &Connection) -> rusqlite::Result<i64> {
    db.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))
}

/// Returns `true` if a batch removes checkpoints, which may take long.
pub(crate) fn rolls_back(batch: &WriteBatch) -> bool {
    batch.writes.iter().any(|write| matches!(write, BatchWrite::RollBack { .. }))
}

impl CachedThread {
    /// Forgets a namespace and the last run, whose rows may be gone.
    pub(super) fn forget(&mut self, namespace: &str) {
        self.namespaces.remove(namespace);
        self.run = None;
        self.indexed_run = None;
    }

    fn find(db: &Connection, name: &str) -> Result<Option<Self>, Error> {
        let mut query =
            db.prepare_cached("SELECT id, epoch, origin, status, wakes, rank FROM thread WHERE name = ?1")?;
        let mut rows = query.query([name])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        Ok(Some(Self {
            id: row.get(0)?,
            epoch: row.get::<_, i64>(1)?.cast_unsigned(),
            origin: text(row, 2)?.into(),
            status: (row.get(3)?, row.get(4)?, row.get(5)?),
            indexed_run: None,
            run: None,
            namespaces: HashMap::new(),
        }))
    }

    pub(super) fn namespace(
        &mut self,
        db: &Connection,
        name: &Arc<str>,
    ) -> Result<Option<&mut CachedNamespace>, Error> {
        if !self.namespaces.contains_key(name) {
            let id = db
                .prepare_cached("SELECT id FROM namespace WHERE thread = ?1 AND name = ?2")?
                .query_row(params![self.id, &**name], |row| row.get(0))
                .optional()?;
            let Some(id) = id else { return Ok(None) };
            let namespace = CachedNamespace {
                id,
                head: head(db, id)?,
                fields: HashMap::new(),
                field_ends: HashMap::new(),
                written: None,
                is_large: false,
            };
            self.namespaces.insert(Arc::clone(name), namespace);
        }
        Ok(self.namespaces.get_mut(name))
    }

    /// Returns the run whose metadata are in the index: that of the root head.
    pub(super) fn indexed_run(&mut self, db: &Connection) -> rusqlite::Result<Option<i64>> {
        if self.indexed_run.is_none() {
            self.indexed_run = db
                .prepare_cached(
                    "SELECT c.run FROM namespace n JOIN checkpoint c ON c.namespace = n.id \
                     WHERE n.thread = ?1 AND n.name = '' ORDER BY c.name DESC LIMIT 1",
                )?
                .query_row([self.id], |row| row.get(0))
                .optional()?;
        }
        Ok(self.indexed_run)
    }

    /// Returns the row of a run. A run with a known id but other content gets its own row.
    pub(super) fn run(&mut self, db: &Connection, run: &Arc<RunRecord>) -> Result<i64, Error> {
        if let Some((cached, id)) = &self.run
            && (Arc::ptr_eq(cached, run) || cached == run)
        {
            return Ok(*id);
        }
        let metadata = serde_json::to_string(&run.metadata).map_err(|error| {
            superstep_store::checkpoint::CheckpointError::backend("write the metadata", error)
        })?;
        let values = params![self.id, &*run.id, &*run.program, metadata];
        let found: Option<(i64, bool)> = db
            .prepare_cached(
                "SELECT id, since > (SELECT coalesce(max(id), 0) FROM checkpoint) FROM run \
                 WHERE thread = ?1 AND name = ?2 AND program = ?3 AND metadata = ?4",
            )?
            .query_row(values, |row| Ok((row.get(0)?, row.get::<_, Option<bool>>(1)?.unwrap_or(false))))
            .optional()?;
        let id = match found {
            Some((id, is_ahead)) => {
                if is_ahead {
                    // Row ids are used again after the last rows were deleted.
                    db.prepare_cached("UPDATE run SET since = 0 WHERE id = ?1")?.execute([id])?;
                }
                id
            }
            None => db
                .prepare_cached(
                    "INSERT INTO run (thread, name, program, metadata, since) \
                     VALUES (?1, ?2, ?3, ?4, (SELECT coalesce(max(id), 0) FROM checkpoint))",
                )?
                .insert(values)?,
        };
        self.run = Some((Arc::clone(run), id));
        Ok(id)
    }
}
