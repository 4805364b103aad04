use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::null_is_default::null_is_default;
use super::{Content, InvalidToolCall, ToolCall, Usage};

/// A reply from a model.
///
/// ```
/// use superstep::messages::{AiMessage, ToolCall};
///
/// let reply = AiMessage::new("").call(ToolCall::new("call_1", "clock"));
/// assert_eq!(reply.tool_calls[0].name, "clock");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AiMessage {
    /// The content.
    #[serde(default)]
    pub content: Content,
    /// The id. `add_messages` creates a missing one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The agent's name, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The tool calls that the model asks for.
    // Always written: an empty list overrides the calls in the content when a checkpoint is read.
    #[serde(default, deserialize_with = "null_is_default")]
    pub tool_calls: Vec<ToolCall>,
    /// Tool calls whose arguments are not a JSON object. They need an answer like the others.
    #[serde(default, deserialize_with = "null_is_default", skip_serializing_if = "Vec::is_empty")]
    pub invalid_tool_calls: Vec<InvalidToolCall>,
    /// The number of tokens used.
    #[serde(default, rename = "usage_metadata", skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Fields of a provider's format.
    #[serde(default, deserialize_with = "null_is_default", skip_serializing_if = "Map::is_empty")]
    pub additional_kwargs: Map<String, Value>,
    /// Metadata from the provider, such as the model's name and the stop reason.
    #[serde(default, deserialize_with = "null_is_default", skip_serializing_if = "Map::is_empty")]
    pub response_metadata: Map<String, Value>,
    /// All other fields of the JSON object.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl AiMessage {
    /// Creates a reply with this content.
    pub fn new(content: impl Into<Content>) -> Self {
        Self { content: content.into(), ..Self::default() }
    }

    /// Adds a tool call.
    pub fn call(mut self, call: ToolCall) -> Self {
        self.tool_calls.push(call);
        self
    }

    /// Adds a tool call with invalid arguments.
    pub fn invalid_call(mut self, call: InvalidToolCall) -> Self {
        self.invalid_tool_calls.push(call);
        self
    }

    /// Sets the number of tokens used.
    pub fn usage(self, usage: Usage) -> Self {
        Self { usage: Some(usage), ..self }
    }

    /// Returns the id and the tool's name of each call that needs an answer. Invalid calls come last.
    pub fn calls(&self) -> impl Iterator<Item = (&str, &str)> {
        let invalid = self.invalid_tool_calls.iter().map(|call| (call.id.as_str(), call.name.as_str()));
        self.tool_calls.iter().map(|call| (call.id.as_str(), call.name.as_str())).chain(invalid)
    }

    /// Returns `true` if there is a tool call, valid or not.
    pub fn has_calls(&self) -> bool {
        !(self.tool_calls.is_empty() && self.invalid_tool_calls.is_empty())
    }
}
