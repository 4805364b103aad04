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

/// One entry of a row. `range` is its part of the row's data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) checkpoint: CheckpointId,
    pub(crate) kind: ChangeKind,
    pub(crate) encoding: Encoding,
    pub(crate) range: Range<usize>,
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

/// Decodes the entries of a row. The error says why they are invalid.
pub(crate) fn entries(headers: &[u8], data: usize) -> Result<Vec<Entry>, String> {
    let (headers, rest) = headers.as_chunks::<HEADER_BYTES>();
    if !rest.is_empty() || headers.is_empty() {
        return Err("the headers of its entries are cut off".to_owned());
    }
    let mut entries: Vec<Entry> = Vec::with_capacity(headers.len());
    let mut end = 0;
    for header in headers {
        let start = if entries.is_empty() { 0 } else { end + 1 };
        let entry = entry(header, start)?;
        if entries.last().is_some_and(|last| last.checkpoint > entry.checkpoint) {
            return Err("its entries are out of order".to_owned());
        }
        end = entry.range.end;
        entries.push(entry);
    }
    if end != data {
        return Err(format!("its entries have {end} bytes, but there are {data}"));
    }
    Ok(entries)
}

/// Returns the checkpoint of the last entry of a row with these headers.
pub(crate) fn last(headers: &[u8]) -> Option<CheckpointId> {
    let (headers, _) = headers.as_chunks::<HEADER_BYTES>();
    let [checkpoint @ .., _, _, _, _, _] = headers.last()?;
    Some(CheckpointId::from_bytes(*checkpoint))
}

fn entry(header: &[u8; HEADER_BYTES], start: usize) -> Result<Entry, String> {
    let [checkpoint @ .., code, a, b, c, d] = header;
    let length = usize::try_from(u32::from_le_bytes([*a, *b, *c, *d])).unwrap_or(usize::MAX);
    let encoding =
        Encoding::from_code(code & !VALUE_BIT).ok_or_else(|| unknown_encoding(code & !VALUE_BIT))?;
    Ok(Entry {
        checkpoint: CheckpointId::from_bytes(*checkpoint),
        kind: if code & VALUE_BIT == 0 { ChangeKind::Delta } else { ChangeKind::Value },
        encoding,
        range: start..start.saturating_add(length),
    })
}

/// Returns the reason for refusing a payload of this encoding.
pub(crate) fn unknown_encoding(code: u8) -> String {
    format!("unknown encoding {code}")
}

/// Returns the change of an entry without copying the row's data.
pub(crate) fn change(entry: Entry, data: &Arc<[u8]>) -> Option<StoredChange> {
    let payload = Payload::part_of(entry.encoding, Arc::clone(data), entry.range)?;
    Some(StoredChange::new(entry.checkpoint, entry.kind, payload))
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
        let data: Arc<[u8]> = chunk.data.clone().into();
        let changes: Vec<StoredChange> = entries(&chunk.headers().unwrap(), data.len())
            .unwrap()
            .into_iter()
            .map(|entry| change(entry, &data).unwrap())
            .collect();
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
        for (headers, data, expected) in [
            (&headers[..HEADER_BYTES - 1], 10, "the headers of its entries are cut off"),
            (&[], 0, "the headers of its entries are cut off"),
            (&headers, 9, "its entries have 10 bytes, but there are 9"),
            (&headers, 11, "its entries have 10 bytes, but there are 11"),
            (&swapped, 10, "its entries are out of order"),
            (&unknown, 10, "unknown encoding 127"),
            (&long, 10, "its entries have 4278190090 bytes, but there are 10"),
        ] {
            assert_eq!(entries(headers, data), Err(expected.to_owned()));
        }
    }
}
