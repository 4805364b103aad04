use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

mod image;
mod reasoning;
mod text;
mod tool_use;

pub use image::{ImageBlock, ImageSource};
pub use reasoning::ReasoningBlock;
pub use text::TextBlock;
pub use tool_use::ToolUseBlock;

/// A part of what a message says.
///
/// Providers write the same thing in different forms; a block that was read is written in the form in which it was read.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Block {
    /// Text.
    Text(TextBlock),
    /// An image.
    Image(ImageBlock),
    /// A tool that the model wants called. The message's [`tool_calls`](super::AiMessage::tool_calls) have it as well.
    ToolUse(ToolUseBlock),
    /// What the model has thought.
    Reasoning(ReasoningBlock),
    /// Anything else, as it was read.
    Other(Map<String, Value>),
}

impl Block {
    /// A block of text.
    pub fn text_of(text: impl Into<String>) -> Self {
        Self::Text(TextBlock { text: text.into(), ..TextBlock::default() })
    }

    /// An image at an address.
    pub fn image_url(url: impl Into<String>) -> Self {
        Self::Image(ImageBlock::at(url.into()))
    }

    /// An image whose bytes are here, in base64.
    pub fn image_base64(media_type: impl Into<String>, data: impl Into<String>) -> Self {
        Self::Image(ImageBlock::here(media_type.into(), data.into()))
    }

    /// What the model has thought.
    pub fn reasoning(text: impl Into<String>) -> Self {
        Self::Reasoning(ReasoningBlock::new(text.into()))
    }

    /// The text of a block of text.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(block) => Some(&block.text),
            _ => None,
        }
    }

    /// Reads a block; what has no form that is known here is kept as it is.
    fn of(mut block: Map<String, Value>) -> Self {
        let kind = block.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        let read = match kind.as_str() {
            "text" => text::read(&mut block),
            "image_url" => image::read_url(&mut block),
            "image" => image::read(&mut block),
            "tool_use" => tool_use::read(&mut block, "input", tool_use::Form::Input),
            "tool_call" => tool_use::read(&mut block, "args", tool_use::Form::Args),
            "reasoning" => reasoning::read(&mut block, "reasoning", reasoning::Form::Reasoning),
            "thinking" => reasoning::read(&mut block, "thinking", reasoning::Form::Thinking),
            _ => None,
        };
        let Some(mut read) = read else { return Self::Other(block) };
        block.remove("type");
        match &mut read {
            Self::Text(TextBlock { extra, .. })
            | Self::Image(ImageBlock { extra, .. })
            | Self::ToolUse(ToolUseBlock { extra, .. })
            | Self::Reasoning(ReasoningBlock { extra, .. })
            | Self::Other(extra) => *extra = block,
        }
        read
    }

    /// The block as JSON.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Text(block) => block.to_json(),
            Self::Image(block) => block.to_json(),
            Self::ToolUse(block) => block.to_json(),
            Self::Reasoning(block) => block.to_json(),
            Self::Other(block) => Value::Object(block.clone()),
        }
    }
}

fn take(block: &mut Map<String, Value>, key: &str) -> Option<String> {
    if !block.get(key)?.is_string() {
        return None;
    }
    match block.remove(key) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

fn object(mut value: Value, extra: &Map<String, Value>) -> Value {
    if let Some(object) = value.as_object_mut() {
        object.extend(extra.iter().map(|(key, value)| (key.clone(), value.clone())));
    }
    value
}

impl Serialize for Block {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Block {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(text) => Ok(Self::text_of(text)),
            Value::Object(block) => Ok(Self::of(block)),
            other => Err(D::Error::custom(format!("expected a block of content or a text, found `{other}`"))),
        }
    }
}

impl From<&str> for Block {
    fn from(text: &str) -> Self {
        Self::text_of(text)
    }
}

impl From<String> for Block {
    fn from(text: String) -> Self {
        Self::text_of(text)
    }
}

#[cfg(test)]
mod tests;
