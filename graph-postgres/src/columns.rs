//! Conversions between stored columns and the types of the stores.

use std::error::Error as StdError;

use bytes::BytesMut;
use superstep_store::checkpoint::{CheckpointId, StatusKind, StoredStatus};
use superstep_store::payload::{Encoding, Payload};
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use crate::error::Error;

pub(crate) use superstep_store::unix_millis::{from_time as millis, to_time as time};

/// A bound parameter of a statement, with its type: a statement without a name is not described by the server first.
pub(crate) type Param<'a> = (&'a (dyn ToSql + Sync), Type);

/// A checkpoint id as a `uuid`, which sorts like the id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Id(pub(crate) CheckpointId);

impl ToSql for Id {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn StdError + Sync + Send>> {
        out.extend_from_slice(&self.0.to_bytes());
        Ok(IsNull::No)
    }

    fn accepts(of: &Type) -> bool {
        *of == Type::UUID
    }

    to_sql_checked!();
}

impl<'a> FromSql<'a> for Id {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn StdError + Sync + Send>> {
        Ok(Self(CheckpointId::from_bytes(raw.try_into()?)))
    }

    fn accepts(of: &Type) -> bool {
        *of == Type::UUID
    }
}

/// The columns `wakes` and `changed` of a thread whose time is unknown.
pub(crate) const NO_TIME: i64 = i64::MIN;

/// Returns the columns `status`, `wakes` and `changed` of a status.
pub(crate) fn status_columns(status: StoredStatus) -> (i16, Option<i64>, i64) {
    let wakes = match status.kind {
        StatusKind::Unknown => Some(NO_TIME),
        _ => status.wakes_at.map(|time| millis(time).max(NO_TIME + 1)),
    };
    let changed = status.changed_at.map_or(NO_TIME, |time| millis(time).max(NO_TIME + 1));
    (i16::from(status.kind.code()), wakes, changed)
}

/// Reads a status from its columns.
pub(crate) fn status(kind: i64, wakes: Option<i64>, changed: i64) -> StoredStatus {
    let kind = u8::try_from(kind).map_or(StatusKind::Unknown, StatusKind::from_code);
    let wakes = wakes.filter(|_| kind != StatusKind::Unknown);
    let changed = Some(changed).filter(|changed| *changed != NO_TIME);
    StoredStatus::new(kind).wakes_at(wakes.and_then(time)).changed_at(changed.and_then(time))
}

/// Returns a name from its bytes.
pub(crate) fn name(bytes: &[u8]) -> Result<&str, Error> {
    std::str::from_utf8(bytes).map_err(|_| Error::corrupt("a name", None, "it is not UTF-8"))
}

/// Reads a payload from the code of its encoding and its bytes.
pub(crate) fn payload(code: i64, bytes: &[u8]) -> Result<Payload, Error> {
    Ok(Payload::new(encoding(code)?, bytes))
}

fn encoding(code: i64) -> Result<Encoding, Error> {
    u8::try_from(code)
        .ok()
        .and_then(Encoding::from_code)
        .ok_or_else(|| Error::corrupt("the value", None, format!("unknown encoding {code}")))
}

/// Returns the smallest bytes that sort after all bytes with this prefix. `None` if there are none.
pub(crate) fn after_prefix(prefix: &[u8]) -> Option<Vec<u8>> {
    let mut end = prefix.to_vec();
    while let Some(last) = end.pop() {
        if let Some(next) = last.checked_add(1) {
            end.push(next);
            return Some(end);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_a_prefix_end_before_the_next_bytes() {
        assert_eq!(after_prefix(b"a/"), Some(b"a0".to_vec()));
        assert_eq!(after_prefix(b"a\xff"), Some(b"b".to_vec()));
        assert_eq!(after_prefix(b""), None);
    }
}
