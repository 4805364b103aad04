use serde::{Deserialize, Serialize};
use superstep::messages::{AiMessage, InvalidToolCall, ToolCall};

/// The packet that a [`ToolNode`](super::ToolNode) receives: one tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ToolRequest {
    /// A valid call.
    Call(ToolCall),
    /// A call whose arguments cannot be read. The model gets an error message.
    Invalid(InvalidToolCall),
}

impl ToolRequest {
    /// Returns a request for each call of a message: first the valid calls, then the invalid ones, each in their order.
    pub fn of(message: &AiMessage) -> Vec<Self> {
        let invalid = message.invalid_tool_calls.iter().cloned().map(Self::Invalid);
        message.tool_calls.iter().cloned().map(Self::Call).chain(invalid).collect()
    }
}
