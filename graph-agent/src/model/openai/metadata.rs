use serde_json::{Map, Value};

/// What is said of a reply, or a piece of one, outside of its message; `usage` as it is, since [`Usage`] has no place for all of it.
///
/// [`Usage`]: superstep::messages::Usage
pub(super) fn read(reply: Map<String, Value>, choice: Map<String, Value>) -> Map<String, Value> {
    let said = reply.into_iter().chain(choice);
    said.filter(|(_, value)| !value.is_null())
        .filter_map(|(key, value)| match key.as_str() {
            "model" => Some(("model_name".to_owned(), value)),
            "usage" => Some(("token_usage".to_owned(), value)),
            // What is read elsewhere, what says nothing, and letters that hide how long a piece is.
            "choices" | "message" | "delta" | "index" | "object" | "obfuscation" => None,
            _ => Some((key, value)),
        })
        .collect()
}
