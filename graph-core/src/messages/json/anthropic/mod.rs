//! Writes messages in Anthropic's format.

mod blocks;
mod calls;
mod turns;

use serde::Serialize;
use serde_json::Value;

use crate::messages::Message;

use turns::Turns;

/// A conversation in Anthropic's format: the `system` and `messages` of a request.
///
/// The format is stricter than a conversation. It has alternating turns of `user` and `assistant`, the first of which
/// is the user's. Tool results stand at the beginning of the turn after their calls. The conversion works as follows:
///
/// - System messages at the beginning become `system`. Later ones become text in a turn of the user.
/// - Consecutive messages of one side become one turn. Empty messages and empty text are left out.
/// - A tool message moves into the turn after its call. If it answers no call of the history, it becomes text in a turn
///   of the user.
/// - Calls become `tool_use` blocks. Unreadable arguments become a string inside `input`, which must be an object. Ids
///   and tool names with characters that Anthropic refuses are replaced, ids in calls and answers alike.
/// - Signed thinking comes first. Unsigned thinking is left out, because Anthropic does not accept it.
/// - If the history does not begin with the user, a first turn of the user with the text `Begin.` is added. Otherwise
///   every request would be refused for an agent that speaks first, or after a history was cut.
///
/// Anthropic also requires an answer to each call, which the conversion does not add: see
/// [`sanity`](crate::messages::sanity).
///
/// ```
/// use superstep::messages::{AiMessage, AnthropicPrompt, Message, ToolCall};
/// use serde_json::json;
///
/// let prompt = AnthropicPrompt::of(&[
///     Message::system("be brief"),
///     Message::human("what time is it?"),
///     AiMessage::new("").call(ToolCall::new("call_1", "clock")).into(),
///     Message::tool("call_1", "12:00"),
/// ]);
/// assert_eq!(prompt.system, [json!({"type": "text", "text": "be brief"})]);
/// assert_eq!(prompt.messages.len(), 3);
/// assert_eq!(prompt.messages[2]["content"][0]["tool_use_id"], "call_1");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AnthropicPrompt {
    /// The text blocks of the system prompt.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub system: Vec<Value>,
    /// The turns.
    pub messages: Vec<Value>,
}

impl AnthropicPrompt {
    /// Converts a conversation.
    pub fn of(history: &[Message]) -> Self {
        let leading = history.iter().take_while(|message| matches!(message, Message::System(_))).count();
        let (system, history) = history.split_at_checked(leading).unwrap_or((history, &[]));
        let system = system.iter().flat_map(|message| blocks::texts(message.content())).collect();
        let mut turns = Turns::default();
        for message in history {
            turns.add(message);
        }
        Self { system, messages: turns.finish() }
    }
}
