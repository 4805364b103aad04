//! Repairs a conversation that a cut-off run has left incomplete, before the next turn.
//!
//! A run can be cancelled or killed at any point, for example after a model's calls or between two tool results. Chat
//! endpoints refuse such a history on the next turn. There are three ways to repair it:
//!
//! - The node [`messages_sanity`](super::messages_sanity), right after [`START`](crate::START).
//! - [`MessagesSanity`], the same node with custom wording.
//! - [`repair`], without a graph.
//!
//! ```
//! use superstep::messages::{AiMessage, Message, ToolCall, messages_sanity};
//! use superstep::{END, GraphState, START, StateGraph};
//!
//! #[derive(GraphState, Clone)]
//! struct Chat {
//!     #[state(input, reducer = add_messages)]
//!     messages: Vec<Message>,
//! }
//!
//! async fn model(chat: &Chat) -> ChatUpdate {
//!     // A real one sends `chat.messages`; here they are counted.
//!     Chat::update().messages(Message::ai(format!("you have sent {} messages", chat.messages.len())))
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> superstep::Result<()> {
//! let graph = StateGraph::<Chat>::new()
//!     .edge(START, messages_sanity)
//!     .edge(messages_sanity, model)
//!     .edge(model, END)
//!     .compile()?;
//!
//! // The tool was called, and then the run was cancelled.
//! let left_behind = [
//!     Message::human("what time is it?"),
//!     AiMessage::new("").call(ToolCall::new("call_1", "clock")).into(),
//!     Message::human("hello?"),
//! ];
//! let chat = graph.run(Chat::input().messages(left_behind)).await?.into_state();
//! let answer = chat.messages[2].as_tool().expect("the call is answered");
//! assert_eq!((answer.tool_call_id.as_str(), answer.name.as_deref()), ("call_1", Some("clock")));
//! assert_eq!(chat.messages[4].text(), "you have sent 4 messages");
//! # Ok(())
//! # }
//! ```
//!
//! # Requirements of endpoints
//!
//! In OpenAI's format, tool messages with the answer to each call must directly follow the message with the calls. Each
//! call is answered once, and no other tool message may occur. In Anthropic's format, the results of all tool uses of a
//! turn come first in the next turn, each once. A history that satisfies the first format also satisfies the second.
//!
//! # Repairs
//!
//! | problem | repair |
//! |---|---|
//! | a call without an answer | a tool message with its id and name is added after the existing answers |
//! | an answer that does not directly follow its call | is moved there |
//! | a tool message whose call is missing or comes later | is dropped |
//! | a second answer to a call | is dropped |
//! | two consecutive messages from a person | a system note is added between them |
//! | a tool message at the end | a message from the model is added after it |
//!
//! An answer belongs to the last message before it that has a call with its id, because some servers restart their ids
//! in every reply. Invalid calls need an answer like the others. Answers to the calls of one message may come in any
//! order.
//!
//! Nothing else changes: no other message is dropped or edited, only tool messages move, and the answers to one message
//! keep their order. A history that is in order is not written at all.

mod repair;
mod repair_texts;

pub use crate::node::messages::MessagesSanity;
pub use repair::{in_order, repair};
pub use repair_texts::RepairTexts;

#[cfg(test)]
mod tests;
