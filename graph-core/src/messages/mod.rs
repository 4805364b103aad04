//! Messages of a conversation with a language model, and how they are kept in a state.
//!
//! A [`Message`] is what a person, a model, a tool or the application itself has said. A state keeps a list of them that
//! [`add_messages`](AddMessages) folds: what is new is appended, what has the id of one that is there takes its place, and
//! [`Remove`] takes one out.
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
//! // Without an id it is a new one; with the id of one that is there, it takes its place.
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
//! A conversation that a cancelled run has left in disorder is mended by [`messages_sanity`], right after [`START`](crate::START).
//!
//! # JSON
//!
//! A message is written in the form of LangChain (`{"type": "human", "content": ..}`), so that its tools read it. For models
//! there are [`Message::to_openai`], the form of chat endpoints, and [`AnthropicPrompt`].
//!
//! | form | read | written |
//! |---|---|---|
//! | LangChain's: `{"type": "ai", "content": ..}` | yes | by `Serialize` |
//! | the same in `data` (`{"type": "ai", "data": ..}`), in an `lc` envelope, as a chunk | yes, as data: nothing is made but a message | |
//! | of chat endpoints: `{"role": "assistant", "content": ..}` | yes | [`Message::to_openai`] |
//! | of Anthropic | | [`AnthropicPrompt`] |
//! | `"text"` (a person's), `["user", "text"]` | yes | |
//!
//! What a message holds besides survives: fields that LangChain does not know in `extra`, those of chat endpoints in
//! `additional_kwargs`, blocks of content of an unknown kind as they are. Nulls say nothing. Calls that a message has
//! only in its content, or in the form of a provider, are its [`tool_calls`](AiMessage::tool_calls) as well; a list of calls,
//! also an empty one, is the truth. Numbers in arguments are those of JSON in Rust: of more than 64 bits they are rounded. What came
//! before tools, `function_call` and the role `function`, is not read as a call and its answer.

mod add_messages;
mod ai;
mod block;
mod call;
mod chunk;
mod content;
pub(crate) mod has_messages;
mod human;
mod json;
mod message;
mod role;
pub mod sanity;
mod state;
mod system;
mod tool;
mod update;
mod usage;

pub use add_messages::{AddMessages, MessagesDelta};
pub use ai::AiMessage;
pub use block::{Block, ImageBlock, ImageSource, ReasoningBlock, TextBlock, ToolUseBlock};
pub use call::{InvalidToolCall, ToolCall};
pub use chunk::{Assembly, MessageChunk, ToolCallChunk};
pub use content::Content;
pub use has_messages::HasMessages;
pub use human::HumanMessage;
pub use json::AnthropicPrompt;
pub use message::Message;
pub use role::{Role, UnknownRole};
pub use sanity::node::messages_sanity;
pub use state::{MessagesState, MessagesStateInput, MessagesStateUpdate};
pub use system::SystemMessage;
pub use tool::{ToolMessage, ToolStatus};
pub use update::{MessageUpdate, MessagesUpdate, Remove};
pub use usage::Usage;
