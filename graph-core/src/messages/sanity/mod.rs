//! What a run that was cut off leaves in a conversation, put in order before the next turn.
//!
//! A run that is cancelled, killed or given up ends anywhere: behind a model's calls, between the answers of two tools. The
//! next turn then sends a history that chat endpoints refuse. [`messages_sanity`](super::messages_sanity) is a node to stand
//! right after [`START`](crate::START) and mends it; [`MessagesSanity`] is the same with texts of one's own, and [`repair`]
//! without a graph.
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
//! # What is asked of a history
//!
//! Endpoints in OpenAI's form want every call of a model's message answered by tool messages that stand directly behind it,
//! each call once, and no tool message anywhere else. Anthropic's wants the results of all tool uses of a turn in the turn
//! that follows, before anything that a person says, each once. What satisfies the first satisfies the second.
//!
//! # What is mended
//!
//! | there is | it becomes |
//! |---|---|
//! | a call that nobody has answered, anywhere | a tool message with its id and name, behind the answers that are there |
//! | an answer that does not stand directly behind its call | is brought there |
//! | a tool message whose call is not there, or comes later | is dropped |
//! | a second answer to one call | is dropped; the first stays |
//! | a person's message directly after a person's | a system note between them |
//! | a tool message at the end | a model's message behind it |
//!
//! An answer belongs to the last message before it that has a call of its id, since some servers begin to count their ids
//! anew in every reply. Calls whose arguments cannot be read want an answer as the others do. The answers to calls that
//! were made together may stand in any order.
//!
//! Everything else stays: no message but these is dropped or changed, only tool messages move, and the answers to one
//! message keep their order. A history that is in order already is not written at all.

pub(super) mod node;
mod repair;
mod texts;

pub use node::MessagesSanity;
pub use repair::{in_order, repair};
pub use texts::Texts;

#[cfg(test)]
mod tests;
