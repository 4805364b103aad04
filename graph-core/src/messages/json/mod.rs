//! Reads and writes messages as JSON.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

mod anthropic;
mod error;
mod langchain;
mod mark;
mod openai;
#[cfg(feature = "schema")]
mod schema;

pub use anthropic::AnthropicPrompt;

use error::InvalidMessage;
pub(super) use mark::{Mark, Marked};

use super::{Message, MessageUpdate, MessagesUpdate, Remove};

/// Reads a message in any accepted format.
fn read(value: Value) -> Result<Message, InvalidMessage> {
    match read_change(value)? {
        Change::Message(message) => Ok(*message),
        Change::Remove(_) => Err(InvalidMessage::Removal),
    }
}

/// A change without a mark.
enum Change {
    Message(Box<Message>),
    Remove(Remove),
}

impl<M: Into<Message>> From<M> for Change {
    fn from(message: M) -> Self {
        Self::Message(Box::new(message.into()))
    }
}

/// Reads one change of an update, with its mark.
fn read_update(mut value: Value) -> Result<MessageUpdate, InvalidMessage> {
    let mark = value.as_object_mut().and_then(Mark::take);
    Ok(match (read_change(value)?, mark) {
        (Change::Message(message), None) => MessageUpdate::Put(message),
        (Change::Message(message), Some(Mark::Client)) => MessageUpdate::Add(message),
        (Change::Message(message), Some(Mark::New)) => MessageUpdate::New(message),
        (Change::Remove(removal), _) => removal.into(),
    })
}

fn read_change(value: Value) -> Result<Change, InvalidMessage> {
    match value {
        Value::String(text) => Ok(Message::human(text).into()),
        Value::Object(fields) => object(fields),
        Value::Array(pair) => match <[Value; 2]>::try_from(pair) {
            Ok([Value::String(role), content]) => {
                openai::read(&role, Map::from_iter([("content".to_owned(), content)])).map(Into::into)
            }
            _ => Err(InvalidMessage::Kind("a list")),
        },
        Value::Null => Err(InvalidMessage::Kind("null")),
        Value::Bool(_) => Err(InvalidMessage::Kind("a boolean")),
        Value::Number(_) => Err(InvalidMessage::Kind("a number")),
    }
}

fn object(fields: Map<String, Value>) -> Result<Change, InvalidMessage> {
    let text = |key: &str| fields.get(key).and_then(Value::as_str).map(str::to_owned);
    match (text("type"), text("role")) {
        _ if langchain::is_envelope(&fields) => {
            let (kind, fields) = langchain::open(fields)?;
            of_type(&kind, fields)
        }
        // The `type` belongs to another kind of object with a role, such as an item of a response.
        (Some(kind), Some(role)) if kind != "chat" && kind != "remove" && langchain::role(&kind).is_err() => {
            openai::read(&role, fields).map(Into::into)
        }
        (Some(kind), _) => of_type(&kind, fields),
        (None, Some(role)) => openai::read(&role, fields).map(Into::into),
        (None, None) => Err(InvalidMessage::Unmarked),
    }
}

fn of_type(kind: &str, fields: Map<String, Value>) -> Result<Change, InvalidMessage> {
    if kind != "remove" {
        return langchain::read(kind, fields).map(Into::into);
    }
    let id = fields.get("id").or_else(|| fields.get("data")?.get("id"));
    let id = id.and_then(Value::as_str).ok_or(InvalidMessage::RemovalOfNothing)?;
    Ok(Change::Remove(Remove::named(id.to_owned())))
}

/// Writes a removal in LangChain's format.
pub(super) fn removal(id: &str) -> Value {
    serde_json::json!({"type": "remove", "id": id})
}

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for MessageUpdate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_update(Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for MessagesUpdate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneOrMany)
    }
}

/// Reads a list element by element, so that an error has the path of the element.
struct OneOrMany;

impl<'de> Visitor<'de> for OneOrMany {
    type Value = MessagesUpdate;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message or a list of messages")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<MessagesUpdate, E> {
        Ok([Message::human(text)].into_iter().collect())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<MessagesUpdate, A::Error> {
        MessageUpdate::deserialize(MapAccessDeserializer::new(map)).map(|update| MessagesUpdate(vec![update]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<MessagesUpdate, A::Error> {
        let mut updates = Vec::new();
        while let Some(update) = list.next_element()? {
            updates.push(update);
        }
        Ok(MessagesUpdate(updates))
    }
}

impl Message {
    /// Reads a message in any of the [accepted formats](crate::messages#json).
    ///
    /// # Errors
    /// The JSON is not a message. The error gives the reason.
    pub fn from_json(value: Value) -> serde_json::Result<Self> {
        serde_json::from_value(value)
    }
}
