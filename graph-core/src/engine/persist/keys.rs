//! The keys of records and checkpoints.

use crate::checkpoint::{RecordKey, RecordKind, TaskRecord};
use crate::state::Form;

/// Returns the key of a record.
pub(super) fn key(task: u32, kind: RecordKind, key: &str) -> RecordKey {
    RecordKey::new(task, kind, key)
}

/// Returns a task's index as records store it.
pub(super) fn place(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(RecordKey::NO_TASK - 1)
}

/// Returns the key of a write: its position among its task's writes, its form and its field.
pub(super) fn write_key(ordinal: usize, form: Form, field: &str) -> String {
    let form = match form {
        Form::Delta => 'd',
        Form::Overwrite => 'v',
        // Never stored: encoded writes are prepared. The key could not be read back.
        Form::Update => 'u',
    };
    format!("{ordinal:04}{form}:{field}")
}

/// Parses the form and the field from the key of a write.
pub(super) fn parse_write_key(key: &str) -> Option<(Form, &str)> {
    let (head, field) = key.split_once(':')?;
    let form = match head.chars().last()? {
        'd' => Form::Delta,
        'v' => Form::Overwrite,
        _ => return None,
    };
    Some((form, field))
}

/// Returns `true` if the record is a delta, which is folded into its field.
pub(super) fn is_delta(record: &TaskRecord) -> bool {
    parse_write_key(&record.key.key).is_none_or(|(form, _)| form == Form::Delta)
}

/// Converts a checkpoint's step to a superstep number.
pub(super) fn step_number(step: i64) -> u64 {
    u64::try_from(step).unwrap_or_default()
}
