//! The form of Anthropic's messages, to be sent.

mod blocks;
mod calls;
mod turns;

use serde::Serialize;
use serde_json::Value;

use crate::messages::Message;

use turns::Turns;

/// A conversation in the form of Anthropic's messages: what a request to a model of theirs says as `system` and `messages`.
///
/// Their form is stricter than a history is. There are turns of `user` and `assistant` only, one after the other, and the
/// user has the first; the results of tools stand at the beginning of the turn after the calls. So:
///
/// - System messages at the beginning become `system`; later ones are text in a turn of the user.
/// - What one side says several times in a row becomes one turn; messages that say nothing, and empty texts, are left out.
/// - A tool's message goes into the turn after its call, wherever it stands in the history. One that answers no call
///   of the history is text in a turn of the user.
/// - Calls become `tool_use` blocks. One whose arguments cannot be read has them as a text in its `input`, which has to be an
///   object. Ids with letters that are refused there are replaced, in calls and answers alike, and so are such letters of a
///   tool's name.
/// - Thoughts go first, if they are signed: others are not taken back.
/// - A history that does not begin with the user is given a first turn of the user, `Begin.`: without it every request of an
///   agent that speaks first, or whose history was cut, would be refused.
///
/// That each call has its answer, which is asked for as well, is the history's matter.
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
    /// Blocks of text: what the application tells the model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub system: Vec<Value>,
    /// The turns.
    pub messages: Vec<Value>,
}

impl AnthropicPrompt {
    /// The conversation in this form.
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
