//! Chunks: several changes of a field in one row.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use superstep_store::checkpoint::{ChangeKind, CheckpointId, StoredChange};
use superstep_store::payload::{Encoding, Payload};

/// The size of one entry's header.
const HEADER_BYTES: usize = 21;
/// A chunk has at most this many entries, and together with their headers this many bytes, so that it fits into a page.
const MAX_ENTRIES: usize = 64;
const MAX_BYTES: usize = 7_600;

const VALUE_BIT: u8 = 0x80;
const SEPARATOR: u8 = b'\n';

/// The changes of a field in one row, before they are written.
#[derive(Debug, Default)]
pub(crate) struct Chunk<'b> {
    entries: Vec<u8>,
    data: Cow<'b, [u8]>,
    last: Option<CheckpointId>,
    starts_with_value: bool,
}

impl<'b> Chunk<'b> {
    /// Adds a change after the others.
    pub(crate) fn push(&mut self, checkpoint: CheckpointId, kind: ChangeKind, payload: &'b Payload) {
        if self.entries.is_empty() {
            // Most rows have one change, whose bytes are not copied.
            self.data = Cow::Borrowed(payload.bytes());
            self.starts_with_value = kind == ChangeKind::Value;
        } else {
            let data = self.data.to_mut();
            data.push(SEPARATOR);
            data.extend_from_slice(payload.bytes());
        }
        let whole = if kind == ChangeKind::Value { VALUE_BIT } else { 0 };
        // A longer payload exceeds the limits, and is refused before it gets here.
        let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
        self.entries.extend_from_slice(&checkpoint.to_bytes());
        self.entries.push(payload.encoding().code() | whole);
        self.entries.extend_from_slice(&length.to_be_bytes());
        self.last = Some(checkpoint);
    }

    /// Returns `true` if a change belongs into this row.
    ///
    /// The changes of one checkpoint stay in one row, and a value begins a row.
    pub(crate) fn takes(&self, checkpoint: CheckpointId, kind: ChangeKind, payload: &Payload) -> bool {
        if kind == ChangeKind::Value {
            return false;
        }
        let entries = self.entries.len() + HEADER_BYTES;
        self.last == Some(checkpoint)
            || (!self.starts_with_value
                && entries <= MAX_ENTRIES * HEADER_BYTES
                && entries + self.data.len() + payload.len() < MAX_BYTES)
    }

    /// Returns `true` if all changes of the row are by this checkpoint.
    pub(crate) fn is_only_by(&self, checkpoint: CheckpointId) -> bool {
        self.entries.get(..16) == Some(&checkpoint.to_bytes())
    }

    /// Removes the changes by this checkpoint from the end.
    pub(crate) fn remove(&mut self, checkpoint: CheckpointId) {
        while let Some(start) = self.entries.len().checked_sub(HEADER_BYTES)
            && let Some((id, rest)) = self.entries.get(start..).and_then(<[u8]>::split_first_chunk::<16>)
            && *id == checkpoint.to_bytes()
        {
            let length =
                rest.get(1..5).and_then(|length| length.try_into().ok()).map_or(0, u32::from_be_bytes);
            self.entries.truncate(start);
            let kept = self.data.len().saturating_sub(length as usize + usize::from(start > 0));
            self.data.to_mut().truncate(kept);
        }
        self.last = self
            .entries
            .last_chunk::<HEADER_BYTES>()
            .and_then(|last| last.first_chunk::<16>())
            .map(|id| CheckpointId::from_bytes(*id));
    }

    /// Returns the checkpoint of the first change.
    pub(crate) fn first(&self) -> Option<CheckpointId> {
        self.entries.first_chunk::<16>().map(|id| CheckpointId::from_bytes(*id))
    }

    pub(crate) fn entries(&self) -> &[u8] {
        &self.entries
    }

    pub(crate) fn data(&self) -> &[u8] {
        &self.data
    }
}

/// One entry of a stored row. `range` is its part of the row's data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) checkpoint: CheckpointId,
    pub(crate) kind: ChangeKind,
    encoding: Encoding,
    range: Range<usize>,
}

impl Entry {
    /// Returns the change of an entry without copying the row's data.
    pub(crate) fn change(self, data: &Arc<[u8]>) -> Option<StoredChange> {
        let payload = Payload::part_of(self.encoding, Arc::clone(data), self.range)?;
        Some(StoredChange::new(self.checkpoint, self.kind, payload))
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
        if !entries.is_empty() && entry.kind == ChangeKind::Value {
            return Err("a value is not its first entry".to_owned());
        }
        end = entry.range.end;
        entries.push(entry);
    }
    if end != data {
        return Err(format!("its entries have {end} bytes, but there are {data}"));
    }
    Ok(entries)
}

fn entry(header: &[u8; HEADER_BYTES], start: usize) -> Result<Entry, String> {
    let [checkpoint @ .., code, a, b, c, d] = header;
    let length = usize::try_from(u32::from_be_bytes([*a, *b, *c, *d])).unwrap_or(usize::MAX);
    let encoding = Encoding::from_code(code & !VALUE_BIT)
        .ok_or_else(|| format!("unknown encoding {}", code & !VALUE_BIT))?;
    Ok(Entry {
        checkpoint: CheckpointId::from_bytes(*checkpoint),
        kind: if code & VALUE_BIT == 0 { ChangeKind::Delta } else { ChangeKind::Value },
        encoding,
        range: start..start.saturating_add(length),
    })
}
