//! Chunks: several changes of a field in one row.

use std::borrow::Cow;
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

/// Reads the changes of a row, oldest first, without copying its data. The error says why they are invalid.
pub(crate) fn changes(headers: &[u8], data: &Arc<[u8]>) -> Result<Vec<StoredChange>, String> {
    let (headers, rest) = headers.as_chunks::<HEADER_BYTES>();
    if !rest.is_empty() || headers.is_empty() {
        return Err("the headers of its entries are cut off".to_owned());
    }
    let mut changes: Vec<StoredChange> = Vec::with_capacity(headers.len());
    let mut end = 0_usize;
    for header in headers {
        let [checkpoint @ .., code, _, _, _, _] = header;
        let checkpoint = CheckpointId::from_bytes(*checkpoint);
        if changes.last().is_some_and(|last| last.checkpoint > checkpoint) {
            return Err("its entries are out of order".to_owned());
        }
        let kind = if code & VALUE_BIT == 0 { ChangeKind::Delta } else { ChangeKind::Value };
        if !changes.is_empty() && kind == ChangeKind::Value {
            return Err("a value is not its first entry".to_owned());
        }
        let code = code & !VALUE_BIT;
        let encoding = Encoding::from_code(code).ok_or_else(|| format!("unknown encoding {code}"))?;
        let start = if changes.is_empty() { 0 } else { end + 1 };
        end = start.saturating_add(length(header));
        let Some(payload) = Payload::part_of(encoding, Arc::clone(data), start..end) else {
            return Err(other_length(headers, data.len()));
        };
        changes.push(StoredChange::new(checkpoint, kind, payload));
    }
    if end == data.len() { Ok(changes) } else { Err(other_length(headers, data.len())) }
}

/// Returns the reason for refusing a row whose entries do not have the length of its data.
fn other_length(headers: &[[u8; HEADER_BYTES]], data: usize) -> String {
    let bytes = headers.iter().map(|header| length(header).saturating_add(1)).fold(0, usize::saturating_add);
    format!("its entries have {} bytes, but there are {data}", bytes.saturating_sub(1))
}

fn length([.., a, b, c, d]: &[u8; HEADER_BYTES]) -> usize {
    usize::try_from(u32::from_be_bytes([*a, *b, *c, *d])).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_read_back_or_refused() {
        let first = CheckpointId::after(None);
        let second = CheckpointId::after(Some(first));
        let payloads = [Payload::json("[1]"), Payload::new(Encoding::Bytes, *b""), Payload::json("[2,3]")];
        let mut chunk = Chunk::default();
        for (checkpoint, payload) in [first, first, second].into_iter().zip(&payloads) {
            chunk.push(checkpoint, ChangeKind::Delta, payload);
        }
        let read = changes(chunk.entries(), &chunk.data().into()).unwrap();
        assert_eq!(read.iter().map(|change| change.checkpoint).collect::<Vec<_>>(), [first, first, second]);
        assert!(read.iter().map(|change| &change.payload).eq(&payloads));

        let headers = chunk.entries();
        let mut swapped = headers[2 * HEADER_BYTES..].to_vec();
        swapped.extend_from_slice(&headers[..2 * HEADER_BYTES]);
        let changed = |at: usize, byte: u8| {
            let mut headers = headers.to_vec();
            headers[at] = byte;
            headers
        };
        for (headers, length, expected) in [
            (&headers[..HEADER_BYTES - 1], 10, "the headers of its entries are cut off"),
            (&[], 0, "the headers of its entries are cut off"),
            (headers, 9, "its entries have 10 bytes, but there are 9"),
            (headers, 11, "its entries have 10 bytes, but there are 11"),
            (&swapped, 10, "its entries are out of order"),
            (&changed(16, 0x7f), 10, "unknown encoding 127"),
            (&changed(17, 0xff), 10, "its entries have 4278190090 bytes, but there are 10"),
            (&changed(37, VALUE_BIT), 10, "a value is not its first entry"),
        ] {
            let data = vec![b' '; length].into();
            assert_eq!(changes(headers, &data), Err(expected.to_owned()));
        }
    }
}
