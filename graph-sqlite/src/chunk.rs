//! Chunks: several deltas of a field in one row.

use std::ops::Range;
use std::sync::Arc;

use rusqlite::ToSql;
use rusqlite::types::{ToSqlOutput, ValueRef};
use superstep_store::checkpoint::{ChangeKind, CheckpointId, StoredChange};
use superstep_store::payload::{Encoding, Payload};

/// The size of one entry's header.
pub(crate) const HEADER_BYTES: usize = 21;
/// A full chunk has this many entries, or this many bytes.
pub(crate) const MAX_ENTRIES: usize = 64;
pub(crate) const MAX_BYTES: usize = 16 * 1024;

const VALUE_BIT: u8 = 0x80;
const SEPARATOR: u8 = b'\n';

/// One entry of a row that is not written yet. `range` is its part of the row's data.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) checkpoint: CheckpointId,
    pub(crate) kind: ChangeKind,
    encoding: Encoding,
    range: Range<usize>,
}

/// The entries and data of a row that is not written yet.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    entries: Vec<Entry>,
    data: Vec<u8>,
}

impl Chunk {
    pub(crate) fn push(&mut self, checkpoint: CheckpointId, kind: ChangeKind, payload: &Payload) {
        if !self.entries.is_empty() {
            self.data.push(SEPARATOR);
        }
        let start = self.data.len();
        self.data.extend_from_slice(payload.bytes());
        let range = start..self.data.len();
        self.entries.push(Entry { checkpoint, kind, encoding: payload.encoding(), range });
    }

    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.data.clear();
    }

    /// Removes the entries of `checkpoint` from the end.
    pub(crate) fn remove_checkpoint(&mut self, checkpoint: CheckpointId) {
        while self.entries.pop_if(|last| last.checkpoint == checkpoint).is_some() {}
        self.data.truncate(self.entries.last().map_or(0, |last| last.range.end));
    }

    pub(crate) fn first(&self) -> Option<&Entry> {
        self.entries.first()
    }

    pub(crate) fn last(&self) -> Option<&Entry> {
        self.entries.last()
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.data.len()
    }

    pub(crate) fn starts_with_value(&self) -> bool {
        self.first().is_some_and(|first| first.kind == ChangeKind::Value)
    }

    /// Returns the encoding of the only entry. A row of one entry has no headers.
    pub(crate) fn single_encoding(&self) -> Option<Encoding> {
        match self.entries.as_slice() {
            [only] => Some(only.encoding),
            _ => None,
        }
    }

    /// Returns the headers of a row of several entries.
    pub(crate) fn headers(&self) -> Option<Vec<u8>> {
        if self.entries.len() < 2 {
            return None;
        }
        let mut headers = Vec::with_capacity(self.entries.len() * HEADER_BYTES);
        for entry in &self.entries {
            let whole = if entry.kind == ChangeKind::Value { VALUE_BIT } else { 0 };
            // SQLite takes no payload of four gigabytes. Such a payload is refused before it gets here.
            let length = u32::try_from(entry.range.len()).unwrap_or(u32::MAX);
            headers.extend_from_slice(&entry.checkpoint.to_bytes());
            headers.push(entry.encoding.code() | whole);
            headers.extend_from_slice(&length.to_le_bytes());
        }
        Some(headers)
    }

    pub(crate) fn data(&self) -> ColumnData<'_> {
        let json = self.entries.iter().all(|entry| entry.encoding == Encoding::Json);
        ColumnData { json, bytes: &self.data }
    }
}

/// The bytes of a column, stored as text if they are JSON, so that people can read them.
#[derive(Debug)]
pub(crate) struct ColumnData<'a> {
    json: bool,
    bytes: &'a [u8],
}

impl<'a> From<&'a Payload> for ColumnData<'a> {
    fn from(payload: &'a Payload) -> Self {
        Self { json: payload.encoding() == Encoding::Json, bytes: payload.bytes() }
    }
}

impl ToSql for ColumnData<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        // Invalid UTF-8 is not text to SQLite either, whatever its encoding says.
        let text = self.json && !self.bytes.contains(&0) && std::str::from_utf8(self.bytes).is_ok();
        Ok(ToSqlOutput::Borrowed(if text { ValueRef::Text(self.bytes) } else { ValueRef::Blob(self.bytes) }))
    }
}

/// Adds the changes of a row to a list, oldest first, without copying its data. The error says why they are invalid.
pub(crate) fn read_changes(
    headers: &[u8],
    data: &Arc<[u8]>,
    changes: &mut Vec<StoredChange>,
) -> Result<(), String> {
    let (headers, rest) = headers.as_chunks::<HEADER_BYTES>();
    if !rest.is_empty() || headers.is_empty() {
        return Err("the headers of its entries are cut off".to_owned());
    }
    changes.reserve(headers.len());
    let (mut before, mut end) = (None, 0_usize);
    for header in headers {
        let [id @ .., code, _, _, _, _] = header;
        let checkpoint = CheckpointId::from_bytes(*id);
        if before > Some(checkpoint) {
            return Err("its entries are out of order".to_owned());
        }
        let encoding =
            Encoding::from_code(code & !VALUE_BIT).ok_or_else(|| unknown_encoding(code & !VALUE_BIT))?;
        let kind = if code & VALUE_BIT == 0 { ChangeKind::Delta } else { ChangeKind::Value };
        let start = if before.is_none() { 0 } else { end + 1 };
        end = start.saturating_add(length(header));
        let Some(payload) = Payload::part_of(encoding, Arc::clone(data), start..end) else {
            return Err(other_length(headers, data.len()));
        };
        changes.push(StoredChange::new(checkpoint, kind, payload));
        before = Some(checkpoint);
    }
    if end == data.len() { Ok(()) } else { Err(other_length(headers, data.len())) }
}

/// Returns the reason for refusing a row whose entries do not have the length of its data.
fn other_length(headers: &[[u8; HEADER_BYTES]], data: usize) -> String {
    let bytes = headers.iter().map(|header| length(header).saturating_add(1)).fold(0, usize::saturating_add);
    format!("its entries have {} bytes, but there are {data}", bytes.saturating_sub(1))
}

fn length([.., a, b, c, d]: &[u8; HEADER_BYTES]) -> usize {
    usize::try_from(u32::from_le_bytes([*a, *b, *c, *d])).unwrap_or(usize::MAX)
}

/// Returns the checkpoint of the last entry of a row with these headers.
pub(crate) fn last(headers: &[u8]) -> Option<CheckpointId> {
    let (headers, _) = headers.as_chunks::<HEADER_BYTES>();
    let [checkpoint @ .., _, _, _, _, _] = headers.last()?;
    Some(CheckpointId::from_bytes(*checkpoint))
}

/// Returns the reason for refusing a payload of this encoding.
pub(crate) fn unknown_encoding(code: u8) -> String {
    format!("unknown encoding {code}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk() -> (Chunk, Vec<CheckpointId>) {
        let first = CheckpointId::after(None);
        let second = CheckpointId::after(Some(first));
        let mut chunk = Chunk::default();
        chunk.push(first, ChangeKind::Value, &Payload::json("[1]"));
        chunk.push(first, ChangeKind::Delta, &Payload::new(Encoding::Bytes, *b""));
        chunk.push(second, ChangeKind::Delta, &Payload::json("[2,3]"));
        (chunk, vec![first, first, second])
    }

    #[test]
    fn entries_round_trip() {
        let (chunk, ids) = chunk();
        let data = Arc::from(chunk.data.as_slice());
        let mut changes = Vec::new();
        read_changes(&chunk.headers().unwrap(), &data, &mut changes).unwrap();
        let found: Vec<_> =
            changes.iter().map(|change| (change.checkpoint, change.kind, change.payload.clone())).collect();
        assert_eq!(
            found,
            [
                (ids[0], ChangeKind::Value, Payload::json("[1]")),
                (ids[1], ChangeKind::Delta, Payload::new(Encoding::Bytes, *b"")),
                (ids[2], ChangeKind::Delta, Payload::json("[2,3]")),
            ]
        );
    }

    #[test]
    fn invalid_headers_are_refused() {
        let (chunk, _) = chunk();
        let headers = chunk.headers().unwrap();
        let mut swapped = headers[2 * HEADER_BYTES..].to_vec();
        swapped.extend_from_slice(&headers[..2 * HEADER_BYTES]);
        let mut unknown = headers.clone();
        unknown[16] = 0x7f;
        let mut long = headers.clone();
        long[20] = 0xff;
        for (headers, length, expected) in [
            (&headers[..HEADER_BYTES - 1], 10, "the headers of its entries are cut off"),
            (&[], 0, "the headers of its entries are cut off"),
            (&headers, 9, "its entries have 10 bytes, but there are 9"),
            (&headers, 11, "its entries have 10 bytes, but there are 11"),
            (&swapped, 10, "its entries are out of order"),
            (&unknown, 10, "unknown encoding 127"),
            (&long, 10, "its entries have 4278190090 bytes, but there are 10"),
        ] {
            let data = vec![b' '; length].into();
            assert_eq!(read_changes(headers, &data, &mut Vec::new()), Err(expected.to_owned()));
        }
    }
}
