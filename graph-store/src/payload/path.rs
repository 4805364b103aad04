use std::fmt::Write;

/// Appends a key to a JSON path: `.key`, or `["a key"]` if it is not a plain word.
#[doc(hidden)]
pub fn push_key(path: &mut String, key: &str) {
    let plain = !key.is_empty()
        && !key.starts_with(|c: char| c.is_ascii_digit())
        && key.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
    // Writing into a `String` cannot fail.
    let _ = if plain { write!(path, ".{key}") } else { write!(path, "[{}]", serde_json::Value::from(key)) };
}
