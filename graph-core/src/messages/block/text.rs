use serde_json::{Map, Value, json};

use super::{Block, object, take};

/// A block of text.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct TextBlock {
    /// The text.
    pub text: String,
    /// All other fields, such as citations.
    pub extra: Map<String, Value>,
}

impl TextBlock {
    pub(super) fn to_json(&self) -> Value {
        object(json!({"type": "text", "text": self.text}), &self.extra)
    }
}

pub(super) fn read(block: &mut Map<String, Value>) -> Option<Block> {
    take(block, "text").map(Block::from_text)
}
