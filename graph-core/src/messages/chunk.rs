use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{AiMessage, Block, Content, InvalidToolCall, ToolCall, Usage};

/// A piece of a model's reply, as it is streamed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct MessageChunk {
    /// The id of the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Text to append.
    #[serde(rename = "content", skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Reasoning to append.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    /// Pieces of tool calls.
    #[serde(rename = "tool_call_chunks", skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCallChunk>,
    /// The token usage of the reply, usually in the last piece.
    #[serde(rename = "usage_metadata", skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Fields of a provider's format. Strings, such as a refusal, are appended to those of earlier pieces.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub additional_kwargs: Map<String, Value>,
    /// Metadata from the provider, such as the stop reason.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub response_metadata: Map<String, Value>,
}

/// A piece of a tool call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ToolCallChunk {
    /// The index of the call in the reply.
    pub index: usize,
    /// The call's id, in the first piece.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The tool's name, in the first piece.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A part of the arguments, to append.
    pub args: String,
}

impl ToolCallChunk {
    /// Creates a piece of the call with this index, without an id and a name.
    pub fn new(index: usize, args: impl Into<String>) -> Self {
        Self { index, args: args.into(), ..Self::default() }
    }
}

impl MessageChunk {
    /// Creates a piece of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Sets the id of the message.
    pub fn id(self, id: impl Into<String>) -> Self {
        Self { id: Some(id.into()), ..self }
    }
}

/// Makes one piece of a whole message. Of its content, the piece has the text and the reasoning.
impl From<&AiMessage> for MessageChunk {
    fn from(message: &AiMessage) -> Self {
        let call = |(index, call): (usize, &ToolCall)| ToolCallChunk {
            index,
            id: Some(call.id.clone()),
            name: Some(call.name.clone()),
            args: Value::Object(call.args.clone()).to_string(),
        };
        let valid = message.tool_calls.len();
        let invalid = |(index, call): (usize, &InvalidToolCall)| ToolCallChunk {
            index: valid + index,
            id: Some(call.id.clone()),
            name: Some(call.name.clone()),
            args: call.args.clone(),
        };
        let calls = message.tool_calls.iter().enumerate().map(call);
        let calls = calls.chain(message.invalid_tool_calls.iter().enumerate().map(invalid)).collect();
        let thoughts = message.content.blocks().iter().filter_map(|block| match block {
            Block::Reasoning(thought) => Some(thought.text.as_str()),
            _ => None,
        });
        Self {
            id: message.id.clone(),
            text: message.content.text().into_owned(),
            reasoning: thoughts.collect(),
            calls,
            usage: message.usage.clone(),
            additional_kwargs: message.additional_kwargs.clone(),
            response_metadata: message.response_metadata.clone(),
        }
    }
}

/// Assembles a reply from its pieces.
///
/// ```
/// use superstep::messages::{MessageAssembler, MessageChunk};
///
/// let mut reply = MessageAssembler::default();
/// reply.push(&MessageChunk::text("Good "));
/// reply.push(&MessageChunk::text("morning."));
/// assert_eq!(reply.finish().content, "Good morning.");
/// ```
#[derive(Clone, Debug, Default)]
pub struct MessageAssembler {
    whole: MessageChunk,
}

impl MessageAssembler {
    /// Adds the next piece.
    pub fn push(&mut self, chunk: &MessageChunk) {
        let whole = &mut self.whole;
        if whole.id.is_none() {
            whole.id.clone_from(&chunk.id);
        }
        whole.text.push_str(&chunk.text);
        whole.reasoning.push_str(&chunk.reasoning);
        for piece in &chunk.calls {
            // Some servers give all calls the same index.
            let other = |call: &ToolCallChunk| match (&call.id, &piece.id) {
                (Some(id), Some(new)) => !id.is_empty() && !new.is_empty() && id != new,
                _ => false,
            };
            match whole.calls.iter_mut().rev().find(|call| call.index == piece.index) {
                Some(call) if !other(call) => {
                    // Some servers repeat id and name in every piece, others send them empty.
                    if call.id.as_ref().is_none_or(String::is_empty) {
                        call.id.clone_from(&piece.id);
                    }
                    if call.name.as_ref().is_none_or(String::is_empty) {
                        call.name.clone_from(&piece.name);
                    }
                    call.args.push_str(&piece.args);
                }
                _ => whole.calls.push(piece.clone()),
            }
        }
        if let Some(usage) = &chunk.usage {
            whole.usage = Some(usage.clone());
        }
        merge(&mut whole.additional_kwargs, &chunk.additional_kwargs, true);
        merge(&mut whole.response_metadata, &chunk.response_metadata, false);
    }

    /// Returns the reply. Calls whose arguments are not a JSON object become invalid calls.
    pub fn finish(self) -> AiMessage {
        let mut whole = self.whole;
        let mut message = AiMessage::new(if whole.reasoning.is_empty() {
            Content::Text(whole.text)
        } else {
            let thought = Block::reasoning(whole.reasoning);
            let text = (!whole.text.is_empty()).then(|| Block::from_text(whole.text));
            Content::Blocks([thought].into_iter().chain(text).collect())
        });
        message.id = whole.id;
        message.usage = whole.usage;
        message.additional_kwargs = whole.additional_kwargs;
        message.response_metadata = whole.response_metadata;
        // Pieces of different calls may arrive out of order.
        whole.calls.sort_by_key(|call| call.index);
        for call in whole.calls {
            let (id, name) = (call.id.unwrap_or_default(), call.name.unwrap_or_default());
            let args = match call.args.trim() {
                "" | "null" => Ok(Map::new()),
                args => serde_json::from_str(args),
            };
            match args {
                Ok(args) => message.tool_calls.push(ToolCall::new(id, name).args(args)),
                Err(error) => {
                    let call = InvalidToolCall::new(id, name, call.args).error(error.to_string());
                    message.invalid_tool_calls.push(call);
                }
            }
        }
        message
    }
}

/// Merges the fields of a piece: lists are appended, objects merged, and other values replaced. Strings are appended if
/// `append_strings`.
fn merge(whole: &mut Map<String, Value>, piece: &Map<String, Value>, append_strings: bool) {
    for (key, new) in piece {
        match (whole.get_mut(key), new) {
            (Some(Value::Object(old)), Value::Object(new)) => merge(old, new, append_strings),
            (Some(Value::Array(old)), Value::Array(new)) => old.extend(new.iter().cloned()),
            (Some(Value::String(old)), Value::String(new)) if append_strings => old.push_str(new),
            (_, new) => {
                whole.insert(key.clone(), new.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests;
