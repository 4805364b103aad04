use thiserror::Error;

use crate::messages::{Role, UnknownRole};

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
    #[error("an envelope of the type `{0}` holds no message")]
    Unconstructed(String),
    #[error("the envelope holds no message but `{0}`")]
    Envelope(String),
    #[error("a message of `{role}`: {source}")]
    Fields { role: Role, source: serde_json::Error },
    #[error("the calls of a message are a list of objects, each with a `function`")]
    Calls,
}
