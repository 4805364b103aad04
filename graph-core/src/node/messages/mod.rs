//! Nodes over conversations.

pub(crate) mod has_messages;
mod sanity;

pub use has_messages::HasMessages;
pub use sanity::{MessagesSanity, messages_sanity};
