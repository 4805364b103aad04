use std::collections::HashMap;
use std::sync::Arc;

use superstep_store::checkpoint::{
    Checkpoint, CheckpointId, Fence, Loaded, RecordKey, RecordKind, StoredCheckpoint, StoredField, TaskRecord,
};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::columns::{Id, name, payload, status};
use crate::database::{Connection, Database};
use crate::error::{Error, Failure};
use crate::schema::FORMAT;

use super::changes::{ChangeRow, Rows, of_field};
use super::checkpoints::{Columns, run};

/// Reads the rows of a checkpoint. [`GetPart::decode`] makes a checkpoint of them, on the thread of the caller.
pub(crate) async fn get(
    connection: &Connection,
    database: &Database,
    thread: &str,
    namespace: &str,
    wanted: Option<CheckpointId>,
) -> Result<Vec<Row>, Failure> {
    let known = i32::try_from(FORMAT).unwrap_or(i32::MAX);
    let (thread, namespace, wanted) = (thread.as_bytes(), namespace.as_bytes(), wanted.map(Id));
    let params: [crate::columns::Param<'_>; 4] =
        [(&known, Type::INT4), (&thread, Type::BYTEA), (&namespace, Type::BYTEA), (&wanted, Type::UUID)];
    database.call(connection, database.statements().get(), &params).await
}

/// The parts of a checkpoint, in the order in which the function `get` returns them.
#[derive(Default)]
pub(crate) struct GetPart<'r> {
    loaded: Loaded,
    columns: Option<Columns<'r>>,
    checkpoint: Option<Checkpoint>,
    records: Vec<TaskRecord>,
    fields: Vec<(String, Rows)>,
    by_id: HashMap<i64, usize>,
}

impl<'r> GetPart<'r> {
    /// Makes a checkpoint of the rows of the function `get`.
    pub(crate) fn decode(rows: &'r [Row]) -> Result<Loaded, Error> {
        let mut parts = Self::default();
        for row in rows {
            let id = parts.columns.as_ref().map(|columns| columns.id);
            let id = id.or(parts.checkpoint.as_ref().map(|checkpoint| checkpoint.id));
            parts.add(row).map_err(|error| error.locate(|| "the checkpoint".to_owned(), id))?;
        }
        parts.finish()
    }

    fn add(&mut self, row: &'r Row) -> Result<(), Error> {
        match row.try_get::<_, i16>(0)? {
            0 => self.thread(row),
            1 => self.columns(row),
            2 => self.run(row),
            3 => {
                let record = record(row).map_err(|error| error.locate(|| "a record".to_owned(), None))?;
                self.records.push(record);
                Ok(())
            }
            4 => {
                self.by_id.insert(row.try_get(1)?, self.fields.len());
                self.fields.push((name(row.try_get(7)?)?.to_owned(), Rows::default()));
                Ok(())
            }
            5 => self.changes(row),
            _ => Err(Error::corrupt("the checkpoint's branch", None, "it is missing")),
        }
    }

    fn thread(&mut self, row: &Row) -> Result<(), Error> {
        let head = row.try_get::<_, Option<Id>>(5)?.map(|Id(id)| id);
        let fence = Fence::new(row.try_get::<_, i64>(1)?.cast_unsigned(), head);
        let origin: Arc<str> = name(row.try_get(7)?)?.into();
        let status = status(row.try_get(2)?, row.try_get(3)?, row.try_get(4)?);
        self.loaded = Loaded::new(fence, origin, None).status(status);
        Ok(())
    }

    fn columns(&mut self, row: &'r Row) -> Result<(), Error> {
        let Id(id) = row.try_get(5)?;
        let progress: Option<&[u8]> = row.try_get(9)?;
        self.columns = Some(Columns {
            id,
            parent: row.try_get::<_, Option<Id>>(6)?.map(|Id(id)| id),
            step: row.try_get(1)?,
            source: row.try_get(7)?,
            created: row.try_get(2)?,
            next: row.try_get(8)?,
            progress: row.try_get::<_, Option<i64>>(3)?.map(|code| (code, progress.unwrap_or_default())),
        });
        Ok(())
    }

    fn run(&mut self, row: &Row) -> Result<(), Error> {
        let Some(columns) = self.columns.take() else { return Ok(()) };
        let id = columns.id;
        let run = run(row.try_get(7)?, row.try_get(8)?, row.try_get(9)?);
        let decoded = run.and_then(|run| columns.decode(Arc::new(run)));
        self.checkpoint =
            Some(decoded.map_err(|error| error.locate(|| "the checkpoint".to_owned(), Some(id)))?);
        Ok(())
    }

    fn changes(&mut self, row: &Row) -> Result<(), Error> {
        let index = self.by_id.get(&row.try_get::<_, i64>(1)?);
        let Some((field, rows)) = index.and_then(|index| self.fields.get_mut(*index)) else {
            return Err(Error::corrupt("a field", None, "its name is missing"));
        };
        let (Id(first), Id(until)) = (row.try_get(5)?, row.try_get(6)?);
        let whole = row.try_get::<_, i64>(4)? != 0;
        let change = ChangeRow::new(first, row.try_get(2)?, whole, row.try_get(7)?, row.try_get(8)?);
        change
            .and_then(|change| rows.push(row.try_get(3)?, until, change))
            .map_err(|error| of_field(error, field))
    }

    fn finish(self) -> Result<Loaded, Error> {
        let Self { mut loaded, columns, checkpoint, mut records, fields, .. } = self;
        if let Some(columns) = columns {
            return Err(Error::corrupt("the checkpoint", Some(columns.id), "its run is missing"));
        }
        let Some(checkpoint) = checkpoint else { return Ok(loaded) };
        let mut stored = Vec::with_capacity(fields.len());
        for (field, rows) in fields {
            let changes = rows.finish().map_err(|error| of_field(error, &field))?;
            if !changes.is_empty() {
                stored.push(StoredField::new(field, changes));
            }
        }
        records.sort_unstable_by(|one, other| one.key.cmp(&other.key));
        loaded.found = Some(StoredCheckpoint::new(checkpoint, stored, records));
        Ok(loaded)
    }
}

fn record(row: &Row) -> Result<TaskRecord, Error> {
    let code: i64 = row.try_get(2)?;
    record_of(row.try_get(1)?, code, row.try_get(7)?, row.try_get(3)?, row.try_get(8)?)
}

pub(super) fn record_of(
    task: i64,
    code: i64,
    key: &[u8],
    encoding: i64,
    bytes: &[u8],
) -> Result<TaskRecord, Error> {
    let kind = u8::try_from(code)
        .ok()
        .and_then(RecordKind::from_code)
        .ok_or_else(|| Error::corrupt("its kind", None, format!("unknown code {code}")))?;
    let task = u32::try_from(task).map_err(|_| Error::corrupt("its task", None, "it is out of range"))?;
    let key: Arc<str> = name(key)?.into();
    Ok(TaskRecord::new(RecordKey::new(task, kind, key), payload(encoding, bytes)?))
}
