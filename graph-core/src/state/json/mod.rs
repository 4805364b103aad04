//! Updates and inputs as JSON.

use serde_json::Value;

mod object;
mod overflow;
mod parse;
pub(super) mod path;
mod read;
mod suggest;
mod write;

pub use object::JsonInput;
pub use parse::{
    FieldDeserializer, parse_change, parse_overwrite_with, parse_value, parse_value_with, parse_with,
};
pub(super) use read::read_update;
pub use read::{deserialize_input, deserialize_update};
pub(crate) use write::serialize_writes;
pub use write::{debug_update, serialize_update};

/// The key of an update's overwrites. No field can have this name.
const OVERWRITE: &str = "$overwrite";

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
