use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _, params};
use superstep_store::checkpoint::{CheckpointId, RunRecord};

use crate::reader::head;
use crate::stored::text;
use crate::trouble::Trouble;

/// What the writer remembers of the threads that it writes to, so that a superstep costs what it inserts.
///
/// All of it is in the file as well; it is forgotten as soon as another connection has written or a transaction was rolled
/// back.
#[derive(Debug, Default)]
pub(super) struct Known {
    version: i64,
    threads: HashMap<Arc<str>, Thread>,
}

/// Threads that are remembered at most; beyond that, all are forgotten.
const THREADS: usize = 1_024;

#[derive(Debug)]
pub(super) struct Thread {
    pub(super) id: i64,
    pub(super) epoch: u64,
    pub(super) origin: Arc<str>,
    run: Option<(Arc<RunRecord>, i64)>,
    namespaces: HashMap<Arc<str>, Namespace>,
}

#[derive(Debug)]
pub(super) struct Namespace {
    pub(super) id: i64,
    /// The newest checkpoint and its line.
    pub(super) head: Option<(CheckpointId, i64)>,
    pub(super) fields: HashMap<Box<str>, i64>,
    /// The end of each field on a line.
    pub(super) ends: HashMap<i64, (i64, End)>,
}

/// Where the next row of a field goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct End {
    /// How many entries there are, from the last value on.
    pub(super) entries: i64,
    /// How many rows at the end are not put together yet.
    pub(super) loose: i64,
}

impl Known {
    pub(super) fn forget(&mut self) {
        self.threads.clear();
    }

    /// Forgets everything unless the file is as this connection left it.
    pub(super) fn as_of(&mut self, version: i64) {
        if self.version != version || self.threads.len() > THREADS {
            self.forget();
        }
        self.version = version;
    }

    pub(super) fn thread(
        &mut self,
        db: &Connection,
        name: &Arc<str>,
    ) -> Result<Option<&mut Thread>, Trouble> {
        if !self.threads.contains_key(name) {
            let Some(thread) = Thread::find(db, name)? else { return Ok(None) };
            self.threads.insert(Arc::clone(name), thread);
        }
        Ok(self.threads.get_mut(name))
    }
}

impl Thread {
    fn find(db: &Connection, name: &str) -> Result<Option<Self>, Trouble> {
        let mut query = db.prepare_cached("SELECT id, epoch, origin FROM thread WHERE name = ?1")?;
        let mut rows = query.query([name])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        Ok(Some(Self {
            id: row.get(0)?,
            epoch: row.get::<_, i64>(1)?.cast_unsigned(),
            origin: text(row, 2)?.into(),
            run: None,
            namespaces: HashMap::new(),
        }))
    }

    pub(super) fn namespace(
        &mut self,
        db: &Connection,
        name: &Arc<str>,
    ) -> Result<Option<&mut Namespace>, Trouble> {
        if !self.namespaces.contains_key(name) {
            let id = db
                .prepare_cached("SELECT id FROM namespace WHERE thread = ?1 AND name = ?2")?
                .query_row(params![self.id, &**name], |row| row.get(0))
                .optional()?;
            let Some(id) = id else { return Ok(None) };
            let namespace =
                Namespace { id, head: head(db, id)?, fields: HashMap::new(), ends: HashMap::new() };
            self.namespaces.insert(Arc::clone(name), namespace);
        }
        Ok(self.namespaces.get_mut(name))
    }

    /// The row of a run; a run that says something else under a known id has a row of its own.
    pub(super) fn run(&mut self, db: &Connection, run: &Arc<RunRecord>) -> Result<i64, Trouble> {
        if let Some((known, id)) = &self.run
            && (Arc::ptr_eq(known, run) || known == run)
        {
            return Ok(*id);
        }
        let metadata = serde_json::to_string(&run.metadata).map_err(|error| {
            superstep_store::checkpoint::CheckpointError::backend("write the metadata", error)
        })?;
        let values = params![self.id, &*run.id, &*run.program, metadata];
        let found = db
            .prepare_cached(
                "SELECT id FROM run WHERE thread = ?1 AND name = ?2 AND program = ?3 AND metadata = ?4",
            )?
            .query_row(values, |row| row.get(0))
            .optional()?;
        let id = match found {
            Some(id) => id,
            None => db
                .prepare_cached("INSERT INTO run (thread, name, program, metadata) VALUES (?1, ?2, ?3, ?4)")?
                .insert(values)?,
        };
        self.run = Some((Arc::clone(run), id));
        Ok(id)
    }
}
