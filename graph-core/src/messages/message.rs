use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value};

use super::{AiMessage, Content, HumanMessage, Role, SystemMessage, ToolMessage};

/// Something that was said in a conversation.
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
pub enum Message {
    /// Of a person.
    Human(HumanMessage),
    /// Of a model.
    Ai(AiMessage),
    /// Of a tool.
    Tool(ToolMessage),
    /// Of the application.
    System(SystemMessage),
}

/// The same of each kind.
macro_rules! each {
    ($message:expr, $of:ident => $what:expr) => {
        match $message {
            Message::Human($of) => $what,
            Message::Ai($of) => $what,
            Message::Tool($of) => $what,
            Message::System($of) => $what,
        }
    };
}

impl Message {
    /// A message of a person.
    pub fn human(content: impl Into<Content>) -> Self {
        HumanMessage::new(content).into()
    }

    /// A message of a model.
    pub fn ai(content: impl Into<Content>) -> Self {
        AiMessage::new(content).into()
    }

    /// What came of the call with this id.
    pub fn tool(tool_call_id: impl Into<String>, content: impl Into<Content>) -> Self {
        ToolMessage::new(tool_call_id, content).into()
    }

    /// A message of the application.
    pub fn system(content: impl Into<Content>) -> Self {
        SystemMessage::new(content).into()
    }

    /// Gives it an id. A message with that id that is there already is then replaced.
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        *self.id_mut() = Some(id.into());
        self
    }

    /// Its id. Every message in a state has one.
    pub fn id(&self) -> Option<&str> {
        each!(self, message => message.id.as_deref())
    }

    pub(super) fn additional_kwargs(&self) -> &Map<String, Value> {
        each!(self, message => &message.additional_kwargs)
    }

    pub(super) fn id_mut(&mut self) -> &mut Option<String> {
        each!(self, message => &mut message.id)
    }

    /// Who has said it.
    pub fn role(&self) -> Role {
        match self {
            Self::Human(_) => Role::Human,
            Self::Ai(_) => Role::Ai,
            Self::Tool(_) => Role::Tool,
            Self::System(_) => Role::System,
        }
    }

    /// What it says.
    pub fn content(&self) -> &Content {
        each!(self, message => &message.content)
    }

    /// The text of what it says.
    pub fn text(&self) -> Cow<'_, str> {
        self.content().text()
    }

    /// The name of who has said it.
    pub fn name(&self) -> Option<&str> {
        each!(self, message => message.name.as_deref())
    }

    /// A reply of a model, if it is one.
    pub fn as_ai(&self) -> Option<&AiMessage> {
        match self {
            Self::Ai(message) => Some(message),
            _ => None,
        }
    }

    /// What came of a tool, if it is that.
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

/// A text is a person's.
impl From<&str> for Message {
    fn from(text: &str) -> Self {
        Self::human(text)
    }
}

/// A text is a person's.
impl From<String> for Message {
    fn from(text: String) -> Self {
        Self::human(text)
    }
}
