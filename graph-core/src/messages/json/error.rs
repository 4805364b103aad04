use thiserror::Error;

use crate::messages::{Role, UnknownRole};

/// The error for JSON that is not a message.
#[derive(Debug, Error)]
pub(super) enum InvalidMessage {
    #[error("expected a message (an object, a string, or a pair of role and content), found {0}")]
    Kind(&'static str),
    #[error("expected a message, but the object has neither `type` nor `role`")]
    Unmarked,
    #[error(transparent)]
    Role(#[from] UnknownRole),
    #[error("a removal is not a message: only an update of messages can contain one")]
    Removal,
    #[error("a removal needs the `id` of the message")]
    RemovalOfNothing,
    #[error("an envelope of the type `{0}` contains no message")]
    Unconstructed(String),
    #[error("the envelope of `{0}` contains no message")]
    Envelope(String),
    #[error("invalid `{role}` message: {source}")]
    Fields { role: Role, source: serde_json::Error },
    #[error("the calls of a message must be a list of objects, each with a `function`")]
    Calls,
}
