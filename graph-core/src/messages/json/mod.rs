//! Messages as JSON.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use thiserror::Error;

mod langchain;
mod openai;

use super::{Message, MessageUpdate, Remove, Role, UnknownRole};

/// JSON that is no message.
#[derive(Debug, Error)]
pub(super) enum NoMessage {
    #[error("expected a message (an object, a text, or a pair of role and content), found {0}")]
    Kind(&'static str),
    #[error("expected a message, which has a `type` or a `role`")]
    Unmarked,
    #[error(transparent)]
    Role(#[from] UnknownRole),
    #[error("a removal is no message: only an update of messages can hold one")]
    Removal,
    #[error("a removal names the message by its `id`")]
    RemovalOfNothing,
    #[error("the envelope holds no message but `{0}`")]
    Envelope(String),
    #[error("a message of `{role}`: {source}")]
    Fields { role: Role, source: serde_json::Error },
}

/// Reads a message in any of the forms that are accepted.
pub(super) fn read(value: Value) -> Result<Message, NoMessage> {
    match value {
        Value::String(text) => Ok(Message::human(text)),
        Value::Object(fields) => object(fields),
        Value::Array(pair) => match <[Value; 2]>::try_from(pair) {
            Ok([Value::String(role), content]) => {
                let fields =
                    Map::from_iter([("role".to_owned(), role.into()), ("content".to_owned(), content)]);
                object(fields)
            }
            _ => Err(NoMessage::Kind("a list")),
        },
        Value::Null => Err(NoMessage::Kind("null")),
        Value::Bool(_) => Err(NoMessage::Kind("a boolean")),
        Value::Number(_) => Err(NoMessage::Kind("a number")),
    }
}

fn object(mut fields: Map<String, Value>) -> Result<Message, NoMessage> {
    if fields.contains_key("lc") {
        return langchain::envelope(fields);
    }
    let kind = fields.get("type").and_then(Value::as_str).map(str::to_owned);
    let role = fields.get("role").and_then(Value::as_str).map(str::to_owned);
    match (kind.as_deref(), role.as_deref()) {
        (Some("remove"), _) => Err(NoMessage::Removal),
        (Some("chat"), Some(role)) => langchain::read(role.parse()?, fields),
        (Some(kind), role) => match (langchain::role(kind), role) {
            (Ok(role), _) => match fields.remove("data") {
                Some(Value::Object(data)) => langchain::read(role, data),
                Some(data) => {
                    fields.insert("data".to_owned(), data);
                    langchain::read(role, fields)
                }
                None => langchain::read(role, fields),
            },
            (Err(_), Some(role)) => openai::read(role, fields),
            (Err(unknown), None) => Err(unknown.into()),
        },
        (None, Some(role)) => openai::read(role, fields),
        (None, None) => Err(NoMessage::Unmarked),
    }
}

/// Reads one thing that an update does.
pub(super) fn read_update(value: Value) -> Result<MessageUpdate, NoMessage> {
    match &value {
        Value::Object(fields) if fields.get("type").and_then(Value::as_str) == Some("remove") => {
            match fields.get("id").and_then(Value::as_str) {
                Some(id) => Ok(MessageUpdate::Remove(Remove::named(id.to_owned()))),
                None => Err(NoMessage::RemovalOfNothing),
            }
        }
        _ => read(value).map(MessageUpdate::from),
    }
}

/// Reads what an update does: a list, or one thing.
pub(super) fn read_updates(value: Value) -> Result<Vec<MessageUpdate>, NoMessage> {
    match value {
        Value::Array(updates) => updates.into_iter().map(read_update).collect(),
        one => Ok(vec![read_update(one)?]),
    }
}

/// A removal, as LangChain writes it.
pub(super) fn removal(id: &str) -> Value {
    serde_json::json!({"type": "remove", "id": id})
}

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

fn fields<T: serde::de::DeserializeOwned + Into<Message>>(
    role: Role,
    fields: Map<String, Value>,
) -> Result<Message, NoMessage> {
    let read: Result<T, _> = serde_json::from_value(Value::Object(fields));
    read.map(Into::into).map_err(|source| NoMessage::Fields { role, source })
}

impl Message {
    /// Reads a message; see [the forms](crate::messages#json).
    ///
    /// # Errors
    /// It is no message; the error says why.
    pub fn from_json(value: Value) -> serde_json::Result<Self> {
        serde_json::from_value(value)
    }
}
