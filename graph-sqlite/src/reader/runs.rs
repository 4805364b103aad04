use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _, Row};
use superstep_store::checkpoint::RunRecord;

use crate::stored::text;
use crate::trouble::Trouble;

/// The runs of the checkpoints of one read, each of which is read once.
#[derive(Debug, Default)]
pub(super) struct Runs(HashMap<i64, Arc<RunRecord>>);

impl Runs {
    pub(super) fn get(&mut self, db: &Connection, id: i64) -> Result<Arc<RunRecord>, Trouble> {
        match self.0.entry(id) {
            Entry::Occupied(known) => Ok(Arc::clone(known.get())),
            Entry::Vacant(place) => {
                let mut query = db.prepare_cached("SELECT name, program, metadata FROM run WHERE id = ?1")?;
                let found = query.query_row([id], |row| Ok(run(row))).optional()?;
                let found =
                    found.unwrap_or_else(|| Err(Trouble::damaged("the run", None, "it is missing")))?;
                Ok(Arc::clone(place.insert(Arc::new(found))))
            }
        }
    }
}

/// The run of a row of name, program and metadata.
pub(super) fn run(row: &Row<'_>) -> Result<RunRecord, Trouble> {
    let metadata = serde_json::from_str(text(row, 2)?)
        .map_err(|_| Trouble::damaged("the run's metadata", None, "it is no JSON object"))?;
    Ok(RunRecord { id: text(row, 0)?.into(), program: text(row, 1)?.into(), metadata })
}
