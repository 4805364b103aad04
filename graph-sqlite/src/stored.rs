//! Reading what is stored back into records.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Row, ToSql};
use superstep_store::checkpoint::{Checkpoint, CheckpointId, CheckpointSource, RunRecord};
use superstep_store::payload::{Encoding, Payload};

use crate::chunk::unknown_encoding;
use crate::trouble::Trouble;

/// What [`checkpoint`] reads, from `checkpoint c`.
pub(crate) const CHECKPOINT: &str =
    "c.name, c.parent, c.step, c.source, c.created, c.next, c.progress_encoding, c.progress, c.run";

/// The checkpoint of a row that begins with [`CHECKPOINT`], for its run.
pub(crate) fn checkpoint(row: &Row<'_>, run: Arc<RunRecord>) -> Result<Checkpoint, Trouble> {
    let id = id(row, 0).map_err(|trouble| trouble.within(|| "a checkpoint".to_owned(), None))?;
    rest(row, id, run).map_err(|trouble| trouble.within(|| "the checkpoint".to_owned(), Some(id)))
}

fn rest(row: &Row<'_>, id: CheckpointId, run: Arc<RunRecord>) -> Result<Checkpoint, Trouble> {
    let source: &str = text(row, 3)?;
    let next: Vec<Arc<str>> = serde_json::from_str::<Vec<String>>(text(row, 5)?)
        .map(|next| next.into_iter().map(Arc::from).collect())
        .map_err(|_| Trouble::damaged("the planned nodes", None, "they are no list of names"))?;
    Ok(Checkpoint {
        id,
        parent: optional_id(row, 1)?,
        step: row.get(2)?,
        source: CheckpointSource::from_name(source)
            .ok_or_else(|| Trouble::damaged("the source", None, "it is not known"))?,
        run,
        created_at: time(row.get(4)?)
            .ok_or_else(|| Trouble::damaged("the time", None, "it is out of range"))?,
        next,
        progress: match row.get::<_, Option<i64>>(6)? {
            Some(code) => Some(payload(row, code, 7)?),
            None => None,
        },
    })
}

/// A text without a copy; what is no text is a damage.
pub(crate) fn text<'r>(row: &'r Row<'_>, column: usize) -> Result<&'r str, Trouble> {
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

/// The text of an id, for a column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Name([u8; CheckpointId::TEXT_LEN]);

impl From<CheckpointId> for Name {
    fn from(id: CheckpointId) -> Self {
        let mut text = [0; CheckpointId::TEXT_LEN];
        id.encode_text(&mut text);
        Self(text)
    }
}

impl ToSql for Name {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Text(&self.0)))
    }
}

pub(crate) fn id(row: &Row<'_>, column: usize) -> Result<CheckpointId, Trouble> {
    text(row, column)?
        .parse()
        .map_err(|_| Trouble::damaged(format!("column {column}"), None, "it is no checkpoint id"))
}

pub(crate) fn optional_id(row: &Row<'_>, column: usize) -> Result<Option<CheckpointId>, Trouble> {
    match row.get_ref(column)? {
        ValueRef::Null => Ok(None),
        _ => id(row, column).map(Some),
    }
}

/// The payload of an encoding's number and a column.
pub(crate) fn payload(row: &Row<'_>, code: i64, column: usize) -> Result<Payload, Trouble> {
    Ok(Payload::new(encoding(code)?, bytes(row, column)?))
}

pub(crate) fn encoding(code: i64) -> Result<Encoding, Trouble> {
    u8::try_from(code)
        .map_err(|_| format!("its encoding {code} is not known"))
        .and_then(|code| Encoding::from_code(code).ok_or_else(|| unknown_encoding(code)))
        .map_err(|reason| Trouble::damaged("the value", None, reason))
}

/// What [`Data`](crate::chunk::Data) has written.
pub(crate) fn bytes<'r>(row: &'r Row<'_>, column: usize) -> Result<&'r [u8], Trouble> {
    match row.get_ref(column)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Ok(bytes),
        other => Err(Trouble::damaged("the value", None, format!("its type is {}", other.data_type()))),
    }
}

/// Milliseconds since 1970, by which a time is stored; earlier ones are negative.
pub(crate) fn millis(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
        Err(before) => {
            i64::try_from(before.duration().as_nanos().div_ceil(1_000_000)).map_or(i64::MIN, |millis| -millis)
        }
    }
}

pub(crate) fn time(millis: i64) -> Option<SystemTime> {
    let distance = Duration::from_millis(millis.unsigned_abs());
    if millis < 0 { UNIX_EPOCH.checked_sub(distance) } else { UNIX_EPOCH.checked_add(distance) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_kept_to_the_millisecond_before_1970_too() {
        for wanted in [0, 1, -1, 1_700_000_000_123, -1_700_000_000_123] {
            assert_eq!(millis(time(wanted).unwrap()), wanted);
        }
        assert_eq!(millis(UNIX_EPOCH + Duration::from_micros(1_999)), 1);
        assert_eq!(millis(UNIX_EPOCH - Duration::from_micros(1_999)), -2);
    }
}
