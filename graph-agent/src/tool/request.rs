use serde::{Deserialize, Serialize};
use superstep::messages::{AiMessage, InvalidToolCall, ToolCall};

/// A call of a tool on its way to the [`ToolNode`](super::ToolNode): the packet of a task of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ToolRequest {
    /// One that can be made.
    Call(ToolCall),
    /// One whose arguments cannot be read; the model is told so.
    Invalid(InvalidToolCall),
}

impl ToolRequest {
    /// One for each call of a message, in their order.
    pub fn of(message: &AiMessage) -> Vec<Self> {
        let invalid = message.invalid_tool_calls.iter().cloned().map(Self::Invalid);
        message.tool_calls.iter().cloned().map(Self::Call).chain(invalid).collect()
    }
}
