//! Checkpoints as rows of a list.

use std::collections::HashMap;
use std::sync::Arc;

use superstep_store::checkpoint::{Checkpoint, CheckpointId, CheckpointSource, RunRecord};
use tokio_postgres::Row;

use crate::columns::{Id, name, payload, time};
use crate::error::Error;

/// The columns of a checkpoint `c` and its run `r` that [`Checkpoints::read`] reads. `nth` counts the checkpoints of a run in
/// the list: the run is sent once.
pub(super) const COLUMNS: &str = "c.id, c.parent, c.step, c.source, c.created, c.next, c.progress_encoding, c.progress, \
    c.run, CASE WHEN c.nth = 1 THEN r.name END, CASE WHEN c.nth = 1 THEN r.program END, \
    CASE WHEN c.nth = 1 THEN r.metadata END";

/// The columns of a checkpoint, as they are stored.
pub(super) struct Columns<'r> {
    pub(super) id: CheckpointId,
    pub(super) parent: Option<CheckpointId>,
    pub(super) step: i64,
    pub(super) source: &'r [u8],
    pub(super) created: i64,
    pub(super) next: &'r [u8],
    pub(super) progress: Option<(i64, &'r [u8])>,
}

impl Columns<'_> {
    pub(super) fn decode(self, run: Arc<RunRecord>) -> Result<Checkpoint, Error> {
        let source = std::str::from_utf8(self.source)
            .ok()
            .and_then(CheckpointSource::from_name)
            .ok_or_else(|| Error::corrupt("the source", None, "unknown value"))?;
        let created =
            time(self.created).ok_or_else(|| Error::corrupt("the time", None, "it is out of range"))?;
        let next: Vec<String> = serde_json::from_slice(self.next)
            .map_err(|_| Error::corrupt("the planned nodes", None, "they are not a list of names"))?;
        let progress = self.progress.map(|(code, bytes)| payload(code, bytes)).transpose()?;
        Ok(Checkpoint::new(self.id, self.step, source, run, created)
            .parent(self.parent)
            .next(next.into_iter().map(Arc::from).collect())
            .progress(progress))
    }
}

pub(super) fn run(id: &[u8], program: &[u8], metadata: &[u8]) -> Result<RunRecord, Error> {
    let metadata = serde_json::from_slice(metadata)
        .map_err(|_| Error::corrupt("the run's metadata", None, "it is not a JSON object"))?;
    Ok(RunRecord::new(name(id)?, name(program)?).metadata(metadata))
}

/// Reads the checkpoints of a list, whose runs are sent once.
#[derive(Default)]
pub(super) struct Checkpoints(HashMap<i64, Arc<RunRecord>>);

impl Checkpoints {
    /// Reads the columns [`COLUMNS`] from this one on.
    pub(super) fn read(&mut self, row: &Row, first: usize) -> Result<Checkpoint, Error> {
        let Id(id) = row.try_get(first)?;
        self.read_row(row, first, id).map_err(|error| error.locate(|| "the checkpoint".to_owned(), Some(id)))
    }

    fn read_row(&mut self, row: &Row, first: usize, id: CheckpointId) -> Result<Checkpoint, Error> {
        let run = self.run(row, first + 8)?;
        let code: Option<i16> = row.try_get(first + 6)?;
        let progress: Option<&[u8]> = row.try_get(first + 7)?;
        let columns = Columns {
            id,
            parent: row.try_get::<_, Option<Id>>(first + 1)?.map(|Id(id)| id),
            step: row.try_get(first + 2)?,
            source: row.try_get::<_, &str>(first + 3)?.as_bytes(),
            created: row.try_get(first + 4)?,
            next: row.try_get(first + 5)?,
            progress: code.map(|code| (i64::from(code), progress.unwrap_or_default())),
        };
        columns.decode(run)
    }

    fn run(&mut self, row: &Row, first: usize) -> Result<Arc<RunRecord>, Error> {
        let id: i64 = row.try_get(first)?;
        if let Some(known) = self.0.get(&id) {
            return Ok(Arc::clone(known));
        }
        let parts = (row.try_get(first + 1)?, row.try_get(first + 2)?, row.try_get(first + 3)?);
        let (Some(name), Some(program), Some(metadata)) = parts else {
            return Err(Error::corrupt("the run", None, "it is missing"));
        };
        let run = Arc::new(run(name, program, metadata)?);
        self.0.insert(id, Arc::clone(&run));
        Ok(run)
    }
}
