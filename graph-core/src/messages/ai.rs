use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::json::null_is_default;
use super::{Content, InvalidToolCall, ToolCall, Usage};

/// A reply of a model.
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
    /// What it says.
    #[serde(default)]
    pub content: Content,
    /// Its id; `add_messages` gives one to what has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Which agent it is, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The tools that it wants called.
    // Written also where there are none: that the content's calls are not to be called must come back from a checkpoint.
    #[serde(default, deserialize_with = "null_is_default")]
    pub tool_calls: Vec<ToolCall>,
    /// Calls whose arguments are no JSON object. They want an answer like the others.
    #[serde(default, deserialize_with = "null_is_default", skip_serializing_if = "Vec::is_empty")]
    pub invalid_tool_calls: Vec<InvalidToolCall>,
    /// How many tokens it has cost.
    #[serde(default, rename = "usage_metadata", skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// What the form of one provider has besides.
    #[serde(default, deserialize_with = "null_is_default", skip_serializing_if = "Map::is_empty")]
    pub additional_kwargs: Map<String, Value>,
    /// What the provider has said of it, such as the model's name and why it stopped.
    #[serde(default, deserialize_with = "null_is_default", skip_serializing_if = "Map::is_empty")]
    pub response_metadata: Map<String, Value>,
    /// Everything else that it was read with.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl AiMessage {
    /// A reply that says this.
    pub fn new(content: impl Into<Content>) -> Self {
        Self { content: content.into(), ..Self::default() }
    }

    /// Lets it want a tool called.
    pub fn call(mut self, call: ToolCall) -> Self {
        self.tool_calls.push(call);
        self
    }

    /// Lets it want a tool called with arguments that cannot be read.
    pub fn invalid_call(mut self, call: InvalidToolCall) -> Self {
        self.invalid_tool_calls.push(call);
        self
    }

    /// Says how many tokens it has cost.
    pub fn usage(self, usage: Usage) -> Self {
        Self { usage: Some(usage), ..self }
    }

    /// Id and tool of each call that wants an answer, those that cannot be read last.
    pub fn calls(&self) -> impl Iterator<Item = (&str, &str)> {
        let invalid = self.invalid_tool_calls.iter().map(|call| (call.id.as_str(), call.name.as_str()));
        self.tool_calls.iter().map(|call| (call.id.as_str(), call.name.as_str())).chain(invalid)
    }

    /// Whether it wants a tool called.
    pub fn has_calls(&self) -> bool {
        !(self.tool_calls.is_empty() && self.invalid_tool_calls.is_empty())
    }
}
