use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _, Row};
use superstep_store::checkpoint::RunRecord;

use crate::columns::text;
use crate::error::Error;

/// The runs of one read. Each run is decoded once.
#[derive(Debug, Default)]
pub(super) struct RunCache(HashMap<i64, Arc<RunRecord>>);

impl RunCache {
    pub(super) fn get(&mut self, db: &Connection, id: i64) -> Result<Arc<RunRecord>, Error> {
        match self.0.entry(id) {
            Entry::Occupied(known) => Ok(Arc::clone(known.get())),
            Entry::Vacant(place) => {
                let mut query = db.prepare_cached("SELECT name, program, metadata FROM run WHERE id = ?1")?;
                let found = query.query_row([id], |row| Ok(run(row))).optional()?;
                let found = found.unwrap_or_else(|| Err(Error::corrupt("the run", None, "it is missing")))?;
                Ok(Arc::clone(place.insert(Arc::new(found))))
            }
        }
    }
}

/// Reads a run from a row of name, program and metadata.
pub(super) fn run(row: &Row<'_>) -> Result<RunRecord, Error> {
    let metadata = serde_json::from_str(text(row, 2)?)
        .map_err(|_| Error::corrupt("the run's metadata", None, "it is not a JSON object"))?;
    Ok(RunRecord::new(text(row, 0)?, text(row, 1)?).metadata(metadata))
}
