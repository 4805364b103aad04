use serde_json::{Map, Value, json};

use super::{Block, object, take};

/// A reasoning block.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ReasoningBlock {
    /// The reasoning text.
    pub text: String,
    /// The provider's signature.
    pub signature: Option<String>,
    /// All other fields.
    pub extra: Map<String, Value>,
    form: Form,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Form {
    /// `{"type": "reasoning", "reasoning": ..}`
    #[default]
    Reasoning,
    /// `{"type": "thinking", "thinking": ..}`
    Thinking,
}

impl ReasoningBlock {
    pub(super) fn new(text: String) -> Self {
        Self { text, ..Self::default() }
    }

    pub(super) fn to_json(&self) -> Value {
        let mut value = match self.form {
            Form::Reasoning => json!({"type": "reasoning", "reasoning": self.text}),
            Form::Thinking => json!({"type": "thinking", "thinking": self.text}),
        };
        if let (Some(signature), Some(object)) = (&self.signature, value.as_object_mut()) {
            object.insert("signature".to_owned(), signature.as_str().into());
        }
        object(value, &self.extra)
    }

    /// Returns the signature, which LangChain may keep in `extras`.
    pub(in crate::messages) fn signed(&self) -> Option<&str> {
        let in_extras = || self.extra.get("extras")?.get("signature")?.as_str();
        self.signature.as_deref().or_else(in_extras)
    }
}

pub(super) fn read(block: &mut Map<String, Value>, key: &str, form: Form) -> Option<Block> {
    let text = take(block, key)?;
    let signature = take(block, "signature");
    Some(Block::Reasoning(ReasoningBlock { text, signature, extra: Map::new(), form }))
}
