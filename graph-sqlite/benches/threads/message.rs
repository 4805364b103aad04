//! The value that is stored and decoded.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Message {
    role: String,
    content: String,
    tokens: u32,
}

/// About 200 bytes of JSON.
pub(crate) fn message(number: usize) -> Message {
    let content = format!("message {number:6}: {}", "lorem ipsum dolor ".repeat(8));
    Message { role: "assistant".to_owned(), content, tokens: u32::try_from(number).unwrap_or_default() }
}
