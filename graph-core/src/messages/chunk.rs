use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{AiMessage, Block, Content, InvalidToolCall, ToolCall, Usage};

/// A piece of a model's reply, while it is being written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct MessageChunk {
    /// The id of the message that this is a piece of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Text that comes behind what there is.
    #[serde(rename = "content", skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Thought that comes behind what there is.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    /// Pieces of calls.
    #[serde(rename = "tool_call_chunks", skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCallChunk>,
    /// How many tokens the reply has cost; mostly in the last piece.
    #[serde(rename = "usage_metadata", skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// What the form of one provider has besides. Texts come behind those that there are, as of a refusal.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub additional_kwargs: Map<String, Value>,
    /// What the provider says of the reply, such as why it stopped.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub response_metadata: Map<String, Value>,
}

/// A piece of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolCallChunk {
    /// Which of the reply's calls.
    pub index: usize,
    /// Its id; in the first piece.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its tool; in the first piece.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What comes behind the arguments that there are.
    pub args: String,
}

impl MessageChunk {
    /// A piece of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Says which message it is a piece of.
    pub fn id(self, id: impl Into<String>) -> Self {
        Self { id: Some(id.into()), ..self }
    }
}

/// A whole message is a piece too; of its content, that is its texts and thoughts.
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

/// Puts the pieces of a reply together.
///
/// ```
/// use superstep::messages::{MessageChunk, Assembly};
///
/// let mut reply = Assembly::default();
/// reply.push(&MessageChunk::text("Good "));
/// reply.push(&MessageChunk::text("morning."));
/// assert_eq!(reply.finish().content, "Good morning.");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Assembly {
    whole: MessageChunk,
}

impl Assembly {
    /// Takes the next piece in.
    pub fn push(&mut self, chunk: &MessageChunk) {
        let whole = &mut self.whole;
        if whole.id.is_none() {
            whole.id.clone_from(&chunk.id);
        }
        whole.text.push_str(&chunk.text);
        whole.reasoning.push_str(&chunk.reasoning);
        for piece in &chunk.calls {
            // Some servers give all calls the same index, or none.
            let other = |call: &ToolCallChunk| match (&call.id, &piece.id) {
                (Some(id), Some(new)) => !id.is_empty() && !new.is_empty() && id != new,
                _ => false,
            };
            match whole.calls.iter_mut().rev().find(|call| call.index == piece.index) {
                Some(call) if !other(call) => {
                    // Some servers repeat id and name in every piece, some send them empty.
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

    /// The reply; calls whose arguments are no JSON object are invalid ones.
    pub fn finish(self) -> AiMessage {
        let mut whole = self.whole;
        let mut message = AiMessage::new(if whole.reasoning.is_empty() {
            Content::Text(whole.text)
        } else {
            let thought = Block::reasoning(whole.reasoning);
            let said = (!whole.text.is_empty()).then(|| Block::text_of(whole.text));
            Content::Blocks([thought].into_iter().chain(said).collect())
        });
        message.id = whole.id;
        message.usage = whole.usage;
        message.additional_kwargs = whole.additional_kwargs;
        message.response_metadata = whole.response_metadata;
        // They may begin in another order.
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

/// Puts fields of a piece to those of the pieces before: lists grow, objects are merged, and what else there is takes the place of
/// what was said before. Texts grow if they are written piece by piece.
fn merge(whole: &mut Map<String, Value>, piece: &Map<String, Value>, texts_grow: bool) {
    for (key, new) in piece {
        match (whole.get_mut(key), new) {
            (Some(Value::Object(old)), Value::Object(new)) => merge(old, new, texts_grow),
            (Some(Value::Array(old)), Value::Array(new)) => old.extend(new.iter().cloned()),
            (Some(Value::String(old)), Value::String(new)) if texts_grow => old.push_str(new),
            (_, new) => {
                whole.insert(key.clone(), new.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests;
