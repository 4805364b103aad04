//! Conversations with a language model, and a reducer that keeps them in a state.
//!
//! A [`Message`] comes from a person, a model, a tool or the application. A state keeps a list of messages with the
//! reducer [`add_messages`](AddMessages):
//!
//! - A new message is appended.
//! - A message with a known id replaces the message with that id.
//! - [`Remove`] removes one message or all of them.
//! - A message of a client only adds: see [`MessagesUpdate::of_client`].
//!
//! ```
//! use superstep::messages::{Message, Remove, Role};
//! use superstep::GraphState;
//!
//! #[derive(GraphState, Clone)]
//! struct Chat {
//!     #[state(input, reducer = add_messages)]
//!     messages: Vec<Message>,
//! }
//!
//! let chat = Chat::started(Chat::input().messages("why is my invoice empty?"))?;
//! let question = &chat.messages[0];
//! assert_eq!((question.role(), question.text().as_ref()), (Role::Human, "why is my invoice empty?"));
//!
//! // A message without an id is new. A message with a known id replaces the old one.
//! let again = Message::human("why is invoice 7 empty?").with_id(question.id().unwrap_or_default());
//! let chat = chat.updated(Chat::update().messages([again, Message::ai("It was a draft.")]))?;
//! assert_eq!(chat.messages.len(), 2);
//!
//! let first = chat.messages[0].id().unwrap_or_default().to_owned();
//! let chat = chat.updated(Chat::update().messages(Remove::id(first)))?;
//! assert_eq!(chat.messages[0].text(), "It was a draft.");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The node [`messages_sanity`], right after [`START`](crate::START), repairs a conversation that a cancelled run has
//! left incomplete.
//!
//! # JSON
//!
//! A message is serialized in LangChain's format (`{"type": "human", "content": ..}`), which LangChain's tools can
//! read. For requests to models there are [`Message::to_openai`], for chat endpoints, and [`AnthropicPrompt`].
//!
//! | format | read | written |
//! |---|---|---|
//! | LangChain: `{"type": "ai", "content": ..}` | yes | by `Serialize` |
//! | LangChain with `data` (`{"type": "ai", "data": ..}`), an `lc` envelope, or a chunk | yes, as data: only messages are constructed | |
//! | chat endpoints: `{"role": "assistant", "content": ..}` | yes | [`Message::to_openai`] |
//! | Anthropic | | [`AnthropicPrompt`] |
//! | `"text"` (from a person), `["user", "text"]` | yes | |
//!
//! Notes on reading:
//!
//! - Unknown data is kept: fields that LangChain does not know in `extra`, fields of chat endpoints in
//!   `additional_kwargs`, and content blocks of an unknown kind as they are.
//! - A null counts as a missing value.
//! - If a message has no list of calls, the calls in its content or in a provider's format become its
//!   [`tool_calls`](AiMessage::tool_calls). A list of calls takes precedence, even an empty one.
//! - Numbers in arguments are those of `serde_json`: integers of more than 64 bits are rounded.
//! - The older `function_call` and the role `function` are not read as a call and its answer.

mod add_messages;
mod ai;
mod block;
mod call;
mod chunk;
mod content;
mod human;
mod ids;
mod json;
mod message;
mod null_is_default;
mod role;
pub mod sanity;
mod setters;
mod state;
mod system;
mod tool;
mod update;
mod usage;

pub use crate::node::messages::HasMessages;
pub use crate::node::messages::messages_sanity;
pub use add_messages::{AddMessages, MessagesDelta};
pub use ai::AiMessage;
pub use block::{Block, ImageBlock, ImageSource, ReasoningBlock, TextBlock, ToolUseBlock};
pub use call::{InvalidToolCall, ToolCall};
pub use chunk::{BlockChunk, MessageAssembler, MessageChunk, ToolCallChunk};
pub use content::Content;
pub use human::HumanMessage;
pub use json::AnthropicPrompt;
pub use message::Message;
pub use role::{Role, UnknownRole};
pub use state::{MessagesState, MessagesStateInput, MessagesStateUpdate};
pub use system::SystemMessage;
pub use tool::{ToolMessage, ToolStatus};
pub use update::{MessageUpdate, MessagesUpdate, Remove};
pub use usage::Usage;
