//! Records as JSON.

use serde::Serialize;
use serde_json::error::Category;

use crate::checkpoint::{RecordKey, TaskRecord};
use crate::limits::MAX_PAYLOAD_BYTES;
use crate::payload::Payload;
use crate::state::EncodeError;

/// Creates a record with JSON.
pub(crate) fn json_record(key: RecordKey, value: &impl Serialize) -> Result<TaskRecord, EncodeError> {
    Ok(TaskRecord::new(key, json_payload(value)?))
}

/// Returns the reason why stored JSON of the engine cannot be read. It quotes no stored value.
pub(crate) fn reason(error: &serde_json::Error) -> String {
    match error.classify() {
        // The text of serde quotes what it has found.
        Category::Data => {
            let (line, column) = (error.line(), error.column());
            format!("it does not have the expected form, at line {line} column {column}")
        }
        Category::Io | Category::Syntax | Category::Eof => error.to_string(),
    }
}

/// Encodes values of programs with data of the engine around them.
///
/// The values were checked when they were encoded. Together they may still be too large.
pub(crate) fn json_payload(value: &impl Serialize) -> Result<Payload, EncodeError> {
    let json = serde_json::to_string(value).map_err(EncodeError::of_plan)?;
    if json.len() > MAX_PAYLOAD_BYTES {
        return Err(EncodeError::of_plan(format_args!(
            "it has {} bytes, but at most {MAX_PAYLOAD_BYTES} can be stored: send fewer or smaller packets at once",
            json.len()
        )));
    }
    Ok(Payload::json(json))
}
