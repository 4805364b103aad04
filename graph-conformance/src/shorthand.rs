//! A shorthand for changes and records.
//!
//! `list+a list+b count=1` are two deltas of `list` and a whole value of `count`.

use std::borrow::Cow;

use superstep_store::checkpoint::{
    ChangeKind, FieldChange, RecordKey, RecordKind, StoredChange, StoredCheckpoint, StoredField, TaskRecord,
};
use superstep_store::payload::{Encoding, Payload};

pub(crate) fn parse_changes(text: &str) -> Vec<FieldChange> {
    let change = |word: &str| {
        let at = word.find(['+', '='])?;
        let (field, value) = word.split_at(at);
        let kind = if value.starts_with('=') { ChangeKind::Value } else { ChangeKind::Delta };
        let payload = Payload::json(value.get(1..)?);
        Some(FieldChange::new(Cow::Owned(field.to_owned()), kind, payload))
    };
    text.split_whitespace().filter_map(change).collect()
}

/// Formats the fields of a checkpoint: fields by name, changes in order.
pub(crate) fn format_fields(stored: &StoredCheckpoint) -> String {
    let mut fields: Vec<_> = stored.fields.iter().collect();
    fields.sort_by(|a, b| a.field.cmp(&b.field));
    let mut words = Vec::new();
    for field in fields {
        // A field without changes is a bug of the store.
        if field.changes.is_empty() {
            words.push(format!("{}(without changes)", field.field));
        }
        for change in &field.changes {
            let sign = if change.kind == ChangeKind::Value { '=' } else { '+' };
            words.push(format!("{}{sign}{}", field.field, payload_text(&change.payload)));
        }
    }
    words.join(" ")
}

pub(crate) fn payload_text(payload: &Payload) -> String {
    String::from_utf8_lossy(payload.bytes()).into_owned()
}

pub(crate) fn key(task: u32, kind: RecordKind, key: &str) -> RecordKey {
    RecordKey::new(task, kind, key)
}

pub(crate) fn record(key: RecordKey, text: &str) -> TaskRecord {
    TaskRecord::new(key, Payload::new(Encoding::Json, text.as_bytes()))
}

/// Formats the records of a checkpoint: `0 Interrupt q: text` for each record.
pub(crate) fn format_records(stored: &StoredCheckpoint) -> Vec<String> {
    let format = |record: &TaskRecord| {
        let RecordKey { task, kind, key, .. } = &record.key;
        format!("{task} {kind:?} {key}: {}", payload_text(&record.payload))
    };
    stored.records.iter().map(format).collect()
}

/// Formats the changes of a field, each with the end of the id of its checkpoint.
pub(crate) fn format_field(field: &StoredField) -> String {
    let format = |change: &StoredChange| {
        let sign = if change.kind == ChangeKind::Value { '=' } else { '+' };
        let id = change.checkpoint.to_string();
        format!("{sign}{}@{}", payload_text(&change.payload), id.get(20..).unwrap_or_default())
    };
    field.changes.iter().map(format).collect::<Vec<_>>().join(" ")
}
