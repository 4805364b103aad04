//! The mark of a message in an update, which says where its id comes from.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::messages::Message;

/// The key of the mark. The derives use `$` for their own keys too.
const KEY: &str = "$id";

/// The origin of a message's id. A message without a mark may replace another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::messages) enum Mark {
    /// A client may have chosen it.
    Client,
    /// It was created for the update.
    New,
}

impl Mark {
    fn named(name: &str) -> Option<Self> {
        match name {
            "client" => Some(Self::Client),
            "new" => Some(Self::New),
            _ => None,
        }
    }

    /// Takes the mark out of a message. Another value under the key belongs to the message.
    pub(super) fn take(message: &mut Map<String, Value>) -> Option<Self> {
        let mark = message.get(KEY).and_then(Value::as_str).and_then(Self::named)?;
        message.remove(KEY);
        Some(mark)
    }

    /// Returns `true` if the message has an entry of its own that would be read as a mark.
    pub(in crate::messages) fn is_in(message: &Message) -> bool {
        let entry = message.extra().get(KEY).and_then(Value::as_str);
        entry.and_then(Self::named).is_some()
    }
}

/// A message with its mark.
#[derive(Serialize)]
pub(in crate::messages) struct Marked<'m> {
    #[serde(flatten)]
    message: &'m Message,
    #[serde(rename = "$id")]
    mark: Mark,
}

impl<'m> Marked<'m> {
    pub(in crate::messages) fn new(message: &'m Message, mark: Mark) -> Self {
        Self { message, mark }
    }
}
