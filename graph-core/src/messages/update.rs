use serde::{Serialize, Serializer};

use crate::reducers::ReduceError;

use super::{AiMessage, Content, HumanMessage, Message, Role, SystemMessage, ToolMessage, json};

/// Removes one message or all of them from a list with the reducer [`add_messages`](super::AddMessages).
///
/// A removal is part of an update. The JSON of a run's *input* cannot contain one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remove(pub(super) Removed);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Removed {
    Id(String),
    All,
}

/// The id that means all messages.
const ALL: &str = "__remove_all__";

impl Remove {
    /// Removes the message with this id. An unknown id is an error. The id `__remove_all__` means [all](Self::all)
    /// messages.
    pub fn id(id: impl Into<String>) -> Self {
        Self::named(id.into())
    }

    /// Removes all messages, including those before it in the same update.
    pub fn all() -> Self {
        Self(Removed::All)
    }

    pub(super) fn named(id: String) -> Self {
        Self(if id == ALL { Removed::All } else { Removed::Id(id) })
    }
}

impl Serialize for Remove {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let id = match &self.0 {
            Removed::Id(id) => id,
            Removed::All => ALL,
        };
        json::removal(id).serialize(serializer)
    }
}

/// One change to a list of messages.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum MessageUpdate {
    /// Appends a message, or replaces the one with the same id.
    Put(Box<Message>),
    /// Appends a message that a client has sent, under the id that the client may have chosen.
    ///
    /// It cannot replace another message. The update fails if the list has a different message with this id, or if the
    /// id has the form of generated ids and belongs to no message of the list. In an empty list any id is accepted.
    /// A message that the list already has, unchanged, is not appended again.
    Add(Box<Message>),
    /// Appends a message under a new id. An id that it already has is not used.
    New(Box<Message>),
    /// Removes one message or all of them.
    Remove(Remove),
}

impl MessageUpdate {
    /// Returns the message; `None` for a removal.
    pub fn message(&self) -> Option<&Message> {
        match self {
            Self::Put(message) | Self::Add(message) | Self::New(message) => Some(message),
            Self::Remove(_) => None,
        }
    }
}

impl Serialize for MessageUpdate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Put(message) => message.serialize(serializer),
            Self::Add(message) => json::Marked::new(message, json::Mark::Client).serialize(serializer),
            Self::New(message) => json::Marked::new(message, json::Mark::New).serialize(serializer),
            Self::Remove(removal) => removal.serialize(serializer),
        }
    }
}

/// An update of a list of messages: changes in order.
///
/// In JSON it is a list of changes, or a single one. A change is a message in any of the [accepted
/// formats](super#json), or `{"type": "remove", "id": ".."}`. The entry `"$id": "client"` makes a message an
/// [`Add`](MessageUpdate::Add), and `"$id": "new"` a [`New`](MessageUpdate::New).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct MessagesUpdate(pub Vec<MessageUpdate>);

impl MessagesUpdate {
    /// Creates an update of messages that a client has sent. It can only [add](MessageUpdate::Add) messages.
    ///
    /// The messages in the JSON of a run's *input* are added in this way. Use this function for messages that you have
    /// read yourself.
    ///
    /// ```
    /// use superstep::GraphState;
    /// use superstep::messages::{Message, MessagesState, MessagesUpdate};
    ///
    /// let of_client = |text| MessagesUpdate::of_client([Message::human(text).with_id("1")]);
    /// let update = |text| MessagesState::update().messages(of_client(text));
    /// let state = MessagesState::default().updated(update("pay"))?;
    /// // A repeated request changes nothing, and another message with the id is refused.
    /// assert_eq!(state.clone().updated(update("pay"))?, state);
    /// assert!(state.updated(update("do not pay")).is_err());
    /// # Ok::<(), superstep::Error>(())
    /// ```
    pub fn of_client<M: Into<Message>>(messages: impl IntoIterator<Item = M>) -> Self {
        Self(messages.into_iter().map(|message| MessageUpdate::Add(Box::new(message.into()))).collect())
    }

    /// Returns `true` if there are no changes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Restricts an input to additions.
    pub(super) fn of_input(self) -> Result<Self, ReduceError> {
        let additions = self.0.into_iter().map(|update| match update {
            MessageUpdate::Put(message) => Ok(MessageUpdate::Add(message)),
            MessageUpdate::Add(_) | MessageUpdate::New(_) => Ok(update),
            MessageUpdate::Remove(_) => {
                Err(ReduceError::new("an input cannot remove messages, only an update can"))
            }
        });
        additions.collect::<Result<_, _>>().map(Self)
    }
}

impl<M: Into<Message>> From<M> for MessageUpdate {
    fn from(message: M) -> Self {
        Self::Put(Box::new(message.into()))
    }
}

impl From<Remove> for MessageUpdate {
    fn from(removal: Remove) -> Self {
        Self::Remove(removal)
    }
}

impl<C: Into<Content>> From<(Role, C)> for Message {
    fn from((role, content): (Role, C)) -> Self {
        let content = content.into();
        match role {
            Role::Human => HumanMessage::new(content).into(),
            Role::Ai => AiMessage::new(content).into(),
            // The id is missing: `Message::tool` takes it.
            Role::Tool => ToolMessage::new("", content).into(),
            Role::System => SystemMessage::new(content).into(),
        }
    }
}

impl<M: Into<MessageUpdate>> FromIterator<M> for MessagesUpdate {
    fn from_iter<I: IntoIterator<Item = M>>(updates: I) -> Self {
        Self(updates.into_iter().map(Into::into).collect())
    }
}
