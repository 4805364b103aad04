//! The keys of records and checkpoints.

use crate::checkpoint::{RecordKey, RecordKind, TaskRecord};
use crate::state::Form;

/// Returns the key of a record.
pub(crate) fn key(task: u32, kind: RecordKind, key: &str) -> RecordKey {
    RecordKey::new(task, kind, key)
}

/// Returns a task's index as records store it.
pub(crate) fn place(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(RecordKey::NO_TASK - 1)
}

/// Returns a number as keys contain it: as text, such numbers have the order of the numbers.
///
/// Four digits, as in every earlier version; each further digit adds a `~`, which comes after all digits.
pub(crate) fn ordinal(number: usize) -> String {
    let digits = format!("{number:04}");
    format!("{}{digits}", "~".repeat(digits.len() - 4))
}

/// Returns the part of a key after its number.
pub(crate) fn after_ordinal(key: &str) -> &str {
    key.trim_start_matches(|at: char| at == '~' || at.is_ascii_digit())
}

/// Returns the key of a write: its position among its task's writes, its form and its field.
pub(crate) fn write_key(nth: usize, form: Form, field: &str) -> String {
    let form = match form {
        Form::Delta => 'd',
        Form::Overwrite => 'v',
        // Never stored: encoded writes are prepared. The key could not be read back.
        Form::Update => 'u',
    };
    format!("{}{form}:{field}", ordinal(nth))
}

/// Parses the form and the field from the key of a write.
pub(crate) fn parse_write_key(key: &str) -> Option<(Form, &str)> {
    let (head, field) = key.split_once(':')?;
    let form = match head.chars().last()? {
        'd' => Form::Delta,
        'v' => Form::Overwrite,
        _ => return None,
    };
    Some((form, field))
}

/// Returns `true` if the record is a delta, which is folded into its field.
pub(crate) fn is_delta(record: &TaskRecord) -> bool {
    parse_write_key(&record.key.key).is_none_or(|(form, _)| form == Form::Delta)
}

/// Converts a checkpoint's step to a superstep number.
pub(crate) fn step_number(step: i64) -> u64 {
    u64::try_from(step).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{after_ordinal, ordinal, parse_write_key, write_key};
    use crate::state::Form;

    #[test]
    fn keys_of_numbers_have_the_order_of_the_numbers() {
        let numbers = [0, 9, 10, 999, 1_000, 9_999, 10_000, 10_001, 99_999, 100_000, 1_000_000];
        let keys: Vec<String> = numbers.iter().map(|&nth| write_key(nth, Form::Delta, "log")).collect();
        assert!(keys.is_sorted(), "{keys:?}");
        assert_eq!(keys.first().map(String::as_str), Some("0000d:log"));
        for (number, key) in numbers.iter().zip(&keys) {
            assert_eq!(after_ordinal(key), "d:log", "{}", ordinal(*number));
            assert!(matches!(parse_write_key(key), Some((Form::Delta, "log"))));
        }
    }
}
