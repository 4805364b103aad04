//! Conversions between columns and values.

use std::sync::Arc;
use std::time::SystemTime;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Row, ToSql};
use superstep_store::checkpoint::{
    Checkpoint, CheckpointId, CheckpointSource, RunRecord, StatusKind, StoredStatus,
};
use superstep_store::payload::{Encoding, Payload};

use crate::chunk::unknown_encoding;
use crate::error::Error;

pub(crate) use superstep_store::unix_millis::{from_time as millis, to_time as time};

/// The columns of `checkpoint c` that [`checkpoint`] reads.
pub(crate) const CHECKPOINT_COLUMNS: &str =
    "c.name, c.parent, c.step, c.source, c.created, c.next, c.progress_encoding, c.progress, c.run";

/// Reads a checkpoint from a row that begins with the columns of [`CHECKPOINT_COLUMNS`].
pub(crate) fn checkpoint(row: &Row<'_>, run: Arc<RunRecord>) -> Result<Checkpoint, Error> {
    let id = id(row, 0).map_err(|error| error.locate(|| "a checkpoint".to_owned(), None))?;
    read_checkpoint(row, id, run).map_err(|error| error.locate(|| "the checkpoint".to_owned(), Some(id)))
}

fn read_checkpoint(row: &Row<'_>, id: CheckpointId, run: Arc<RunRecord>) -> Result<Checkpoint, Error> {
    let source = CheckpointSource::from_name(text(row, 3)?)
        .ok_or_else(|| Error::corrupt("the source", None, "unknown value"))?;
    let created_at =
        time(row.get(4)?).ok_or_else(|| Error::corrupt("the time", None, "it is out of range"))?;
    let next: Vec<Arc<str>> = serde_json::from_str::<Vec<String>>(text(row, 5)?)
        .map(|next| next.into_iter().map(Arc::from).collect())
        .map_err(|_| Error::corrupt("the planned nodes", None, "they are not a list of names"))?;
    let progress = match row.get::<_, Option<i64>>(6)? {
        Some(code) => Some(payload(row, code, 7)?),
        None => None,
    };
    let parent = optional_id(row, 1)?;
    Ok(Checkpoint::new(id, row.get(2)?, source, run, created_at).parent(parent).next(next).progress(progress))
}

/// Returns a column of type text without copying it. Any other type is a corruption.
pub(crate) fn text<'r>(row: &'r Row<'_>, column: usize) -> Result<&'r str, Error> {
    match row.get_ref(column)? {
        ValueRef::Text(bytes) => {
            std::str::from_utf8(bytes).map_err(|error| rusqlite::Error::Utf8Error(column, error).into())
        }
        other => {
            let name = row.as_ref().column_name(column).unwrap_or_default().to_owned();
            Err(rusqlite::Error::InvalidColumnType(column, name, other.data_type()).into())
        }
    }
}

/// A checkpoint id in its text form, as stored in a column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IdText([u8; CheckpointId::TEXT_LEN]);

impl From<CheckpointId> for IdText {
    fn from(id: CheckpointId) -> Self {
        let mut text = [0; CheckpointId::TEXT_LEN];
        id.encode_text(&mut text);
        Self(text)
    }
}

impl ToSql for IdText {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Text(&self.0)))
    }
}

pub(crate) fn id(row: &Row<'_>, column: usize) -> Result<CheckpointId, Error> {
    text(row, column)?
        .parse()
        .map_err(|_| Error::corrupt(format!("column {column}"), None, "it is not a checkpoint id"))
}

pub(crate) fn optional_id(row: &Row<'_>, column: usize) -> Result<Option<CheckpointId>, Error> {
    match row.get_ref(column)? {
        ValueRef::Null => Ok(None),
        _ => id(row, column).map(Some),
    }
}

/// The `wakes` column of a thread of unknown status, which is due at any time.
pub(crate) const WAKES_ALWAYS: i64 = i64::MIN;

/// The `rank` column of a thread whose status changed at an unknown time.
const RANK_UNKNOWN: i64 = i64::MAX;

/// The columns `status`, `wakes` and `rank` of a status.
pub(crate) type StatusColumns = (u8, Option<i64>, i64);

/// Returns the columns `status`, `wakes` and `rank` of a status.
pub(crate) fn status_columns(status: StoredStatus) -> StatusColumns {
    let wakes = match status.kind {
        StatusKind::Unknown => Some(WAKES_ALWAYS),
        _ => status.wakes_at.map(|time| millis(time).max(WAKES_ALWAYS + 1)),
    };
    (status.kind.code(), wakes, rank(status.changed_at))
}

/// Returns the column `rank` of the time at which a status changed.
pub(crate) fn rank(changed_at: Option<SystemTime>) -> i64 {
    changed_at.map_or(RANK_UNKNOWN, |time| millis(time).saturating_neg().min(RANK_UNKNOWN - 1))
}

/// Reads a status from the columns `status`, `wakes` and `rank`, of which the first has this index.
pub(crate) fn status(row: &Row<'_>, first: usize) -> Result<StoredStatus, Error> {
    let kind = u8::try_from(row.get::<_, i64>(first)?).map_or(StatusKind::Unknown, StatusKind::from_code);
    let wakes = row.get::<_, Option<i64>>(first + 1)?.filter(|_| kind != StatusKind::Unknown);
    let rank: i64 = row.get(first + 2)?;
    let changed = (rank != RANK_UNKNOWN).then(|| time(rank.saturating_neg())).flatten();
    Ok(StoredStatus::new(kind).wakes_at(wakes.and_then(time)).changed_at(changed))
}

/// Reads a payload from the code of its encoding and a data column.
pub(crate) fn payload(row: &Row<'_>, code: i64, column: usize) -> Result<Payload, Error> {
    Ok(Payload::new(encoding(code)?, bytes(row, column)?))
}

pub(crate) fn encoding(code: i64) -> Result<Encoding, Error> {
    u8::try_from(code)
        .map_err(|_| format!("unknown encoding {code}"))
        .and_then(|code| Encoding::from_code(code).ok_or_else(|| unknown_encoding(code)))
        .map_err(|reason| Error::corrupt("the value", None, reason))
}

/// Returns the bytes that [`ColumnData`](crate::chunk::ColumnData) has written.
pub(crate) fn bytes<'r>(row: &'r Row<'_>, column: usize) -> Result<&'r [u8], Error> {
    match row.get_ref(column)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Ok(bytes),
        other => Err(Error::corrupt("the value", None, format!("its type is {}", other.data_type()))),
    }
}
