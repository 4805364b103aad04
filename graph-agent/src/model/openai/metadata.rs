use serde_json::{Map, Value};

/// Returns the fields of a reply, or of a chunk, outside its message.
///
/// `usage` is kept unchanged, since [`Usage`] cannot hold all of its fields.
///
/// [`Usage`]: superstep::messages::Usage
pub(super) fn read(reply: Map<String, Value>, choice: Map<String, Value>) -> Map<String, Value> {
    let fields = reply.into_iter().chain(choice);
    fields
        .filter(|(_, value)| !value.is_null())
        .filter_map(|(key, value)| match key.as_str() {
            "model" => Some(("model_name".to_owned(), value)),
            "usage" => Some(("token_usage".to_owned(), value)),
            // Fields that are read elsewhere or have no information. `obfuscation` is padding that hides the chunk's length.
            "choices" | "message" | "delta" | "index" | "object" | "obfuscation" => None,
            _ => Some((key, value)),
        })
        .collect()
}
