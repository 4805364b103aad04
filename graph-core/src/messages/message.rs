use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value};

use super::{AiMessage, Content, HumanMessage, Role, SystemMessage, ToolMessage};

/// A message of a conversation.
///
/// ```
/// use superstep::messages::{AiMessage, Message, ToolCall, ToolMessage};
///
/// let history = [
///     Message::system("be brief"),
///     Message::human("what time is it?"),
///     AiMessage::new("").call(ToolCall::new("call_1", "clock")).into(),
///     ToolMessage::new("call_1", "12:00").name("clock").into(),
///     Message::ai("Noon."),
/// ];
/// assert_eq!(history[4].text(), "Noon.");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
#[non_exhaustive]
pub enum Message {
    /// From a person.
    Human(HumanMessage),
    /// From a model.
    Ai(AiMessage),
    /// From a tool.
    Tool(ToolMessage),
    /// From the application.
    System(SystemMessage),
}

/// Evaluates an expression for the message inside, whichever kind it is.
macro_rules! each {
    ($message:expr, $of:ident => $value:expr) => {
        match $message {
            Message::Human($of) => $value,
            Message::Ai($of) => $value,
            Message::Tool($of) => $value,
            Message::System($of) => $value,
        }
    };
}

impl Message {
    /// Creates a message from a person.
    pub fn human(content: impl Into<Content>) -> Self {
        HumanMessage::new(content).into()
    }

    /// Creates a message from a model.
    pub fn ai(content: impl Into<Content>) -> Self {
        AiMessage::new(content).into()
    }

    /// Creates a tool message: the result of the call with this id.
    pub fn tool(tool_call_id: impl Into<String>, content: impl Into<Content>) -> Self {
        ToolMessage::new(tool_call_id, content).into()
    }

    /// Creates a message from the application.
    pub fn system(content: impl Into<Content>) -> Self {
        SystemMessage::new(content).into()
    }

    /// Sets the id. In a list with `add_messages`, the message replaces the one with the same id.
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        *self.id_mut() = Some(id.into());
        self
    }

    /// Returns the id. Every message in a state with `add_messages` has one.
    pub fn id(&self) -> Option<&str> {
        each!(self, message => message.id.as_deref())
    }

    pub(super) fn additional_kwargs(&self) -> &Map<String, Value> {
        each!(self, message => &message.additional_kwargs)
    }

    pub(super) fn extra(&self) -> &Map<String, Value> {
        each!(self, message => &message.extra)
    }

    pub(super) fn id_mut(&mut self) -> &mut Option<String> {
        each!(self, message => &mut message.id)
    }

    /// Returns the role of the author.
    pub fn role(&self) -> Role {
        match self {
            Self::Human(_) => Role::Human,
            Self::Ai(_) => Role::Ai,
            Self::Tool(_) => Role::Tool,
            Self::System(_) => Role::System,
        }
    }

    /// Returns the content.
    pub fn content(&self) -> &Content {
        each!(self, message => &message.content)
    }

    /// Returns the text of the content.
    pub fn text(&self) -> Cow<'_, str> {
        self.content().text()
    }

    /// Returns the name of the author.
    pub fn name(&self) -> Option<&str> {
        each!(self, message => message.name.as_deref())
    }

    /// Returns the message as a reply of a model, if it is one.
    pub fn as_ai(&self) -> Option<&AiMessage> {
        match self {
            Self::Ai(message) => Some(message),
            _ => None,
        }
    }

    /// Returns the message as a tool message, if it is one.
    pub fn as_tool(&self) -> Option<&ToolMessage> {
        match self {
            Self::Tool(message) => Some(message),
            _ => None,
        }
    }
}

macro_rules! from {
    ($($kind:ident: $message:ty;)*) => {$(
        impl From<$message> for Message {
            fn from(message: $message) -> Self {
                Self::$kind(message)
            }
        }
    )*};
}

from! {
    Human: HumanMessage;
    Ai: AiMessage;
    Tool: ToolMessage;
    System: SystemMessage;
}

/// A string is a message from a person.
impl From<&str> for Message {
    fn from(text: &str) -> Self {
        Self::human(text)
    }
}

/// A string is a message from a person.
impl From<String> for Message {
    fn from(text: String) -> Self {
        Self::human(text)
    }
}
