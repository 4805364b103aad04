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

/// A part of the content of a message.
///
/// Providers use different formats for the same kind of block. A block is written in the format in which it was read.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Block {
    /// Text.
    Text(TextBlock),
    /// An image.
    Image(ImageBlock),
    /// A tool call. The message's [`tool_calls`](super::AiMessage::tool_calls) contain it as well.
    ToolUse(ToolUseBlock),
    /// Reasoning of the model.
    Reasoning(ReasoningBlock),
    /// Any other block, as it was read.
    Other(Map<String, Value>),
}

impl Block {
    /// Creates a block of text.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self::Text(TextBlock { text: text.into(), ..TextBlock::default() })
    }

    /// Creates an image from a URL.
    pub fn image_url(url: impl Into<String>) -> Self {
        Self::Image(ImageBlock::at(url.into()))
    }

    /// Creates an image from base64 data.
    pub fn image_base64(media_type: impl Into<String>, data: impl Into<String>) -> Self {
        Self::Image(ImageBlock::here(media_type.into(), data.into()))
    }

    /// Creates a reasoning block.
    pub fn reasoning(text: impl Into<String>) -> Self {
        Self::Reasoning(ReasoningBlock::new(text.into()))
    }

    /// Returns the text, if the block is text.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(block) => Some(&block.text),
            _ => None,
        }
    }

    /// Reads a block. Unknown formats are kept as they are.
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

    /// Returns the block as JSON.
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
            Value::String(text) => Ok(Self::from_text(text)),
            Value::Object(block) => Ok(Self::of(block)),
            other => Err(D::Error::custom(format!("expected a content block or a string, found `{other}`"))),
        }
    }
}

impl From<&str> for Block {
    fn from(text: &str) -> Self {
        Self::from_text(text)
    }
}

impl From<String> for Block {
    fn from(text: String) -> Self {
        Self::from_text(text)
    }
}

#[cfg(test)]
mod tests;
