//! What a checkpoint writes, as a line: `list+a list+b count=1` are two deltas of `list` and a whole value of `count`.

use std::borrow::Cow;

use superstep_store::checkpoint::{
    ChangeKind, FieldChange, RecordKey, RecordKind, StoredChange, StoredCheckpoint, StoredField, TaskRecord,
};
use superstep_store::payload::{Encoding, Payload};

pub(crate) fn pieces(line: &str) -> Vec<FieldChange> {
    let piece = |word: &str| {
        let at = word.find(['+', '='])?;
        let (field, value) = word.split_at(at);
        let kind = if value.starts_with('=') { ChangeKind::Value } else { ChangeKind::Delta };
        let payload = Payload::json(value.get(1..)?);
        Some(FieldChange { field: Cow::Owned(field.to_owned()), kind, payload })
    };
    line.split_whitespace().filter_map(piece).collect()
}

/// The line of what is read: fields by name, pieces in order.
pub(crate) fn line(stored: &StoredCheckpoint) -> String {
    let mut fields: Vec<_> = stored.fields.iter().collect();
    fields.sort_by(|a, b| a.field.cmp(&b.field));
    let mut words = Vec::new();
    for field in fields {
        // An empty field is a mistake that is to be seen.
        if field.changes.is_empty() {
            words.push(format!("{}(without pieces)", field.field));
        }
        for piece in &field.changes {
            let sign = if piece.kind == ChangeKind::Value { '=' } else { '+' };
            words.push(format!("{}{sign}{}", field.field, text(&piece.payload)));
        }
    }
    words.join(" ")
}

pub(crate) fn text(payload: &Payload) -> String {
    String::from_utf8_lossy(payload.bytes()).into_owned()
}

pub(crate) fn key(task: u32, kind: RecordKind, key: &str) -> RecordKey {
    RecordKey { task, kind, key: key.into() }
}

pub(crate) fn record(key: RecordKey, text: &str) -> TaskRecord {
    TaskRecord { key, payload: Payload::new(Encoding::Json, text.as_bytes()) }
}

/// What is known of a checkpoint's tasks: `0 Interrupt q: text` for each record.
pub(crate) fn records(stored: &StoredCheckpoint) -> Vec<String> {
    let line = |record: &TaskRecord| {
        let RecordKey { task, kind, key } = &record.key;
        format!("{task} {kind:?} {key}: {}", text(&record.payload))
    };
    stored.records.iter().map(line).collect()
}

/// The pieces of a field, each with the end of the id that wrote it.
pub(crate) fn field(field: &StoredField) -> String {
    let piece = |piece: &StoredChange| {
        let sign = if piece.kind == ChangeKind::Value { '=' } else { '+' };
        let id = piece.checkpoint.to_string();
        format!("{sign}{}@{}", text(&piece.payload), id.get(20..).unwrap_or_default())
    };
    field.changes.iter().map(piece).collect::<Vec<_>>().join(" ")
}
