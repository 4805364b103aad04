//! Ids of messages and calls, created when an update is prepared.

use crate::reducers::{ReduceError, Stamp};

use super::json::Mark;
use super::{Message, MessageUpdate};

/// The prefix of a generated message id.
const GENERATED: &str = "m-";

/// Returns `true` if the id has the form of generated message ids.
pub(super) fn is_generated(id: &str) -> bool {
    let unique = id.strip_prefix(GENERATED);
    unique.is_some_and(|unique| unique.len() == ulid::ULID_LEN && ulid::Ulid::from_string(unique).is_ok())
}

/// Prepares a change: all its messages and calls have ids afterwards. A message without an id becomes a
/// [`New`](MessageUpdate::New).
pub(super) fn identify(update: MessageUpdate, stamp: &Stamp<'_>) -> Result<MessageUpdate, ReduceError> {
    let mut update = match update {
        MessageUpdate::Put(message) | MessageUpdate::Add(message) if !has_id(&message) => {
            MessageUpdate::New(message)
        }
        update => update,
    };
    match &mut update {
        MessageUpdate::Put(message) | MessageUpdate::Add(message) => {
            check(message)?;
            add_ids(message, stamp);
        }
        MessageUpdate::New(message) => {
            check(message)?;
            *message.id_mut() = None;
            add_ids(message, stamp);
        }
        MessageUpdate::Remove(_) => {}
    }
    Ok(update)
}

/// Checks that a message can be part of an update.
fn check(message: &Message) -> Result<(), ReduceError> {
    if let Message::Tool(message) = message
        && message.tool_call_id.is_empty()
    {
        return Err(ReduceError::new(
            "a tool message needs the id of the call that it answers: create it with `Message::tool(call_id, ..)`",
        ));
    }
    if Mark::is_in(message) {
        return Err(ReduceError::new("a message cannot have an entry `$id` of its own: rename it"));
    }
    Ok(())
}

/// Adds the missing ids to a message and its calls.
pub(super) fn add_ids(message: &mut Message, stamp: &Stamp<'_>) {
    if let Message::Ai(message) = message {
        let calls = message.tool_calls.iter_mut().map(|call| &mut call.id);
        let calls = calls.chain(message.invalid_tool_calls.iter_mut().map(|call| &mut call.id));
        for id in calls.filter(|id| id.is_empty()) {
            // Providers allow only letters, digits, `_` and `-`, and about 40 of them.
            *id = format!("call_{}", stamp.unique_id());
        }
    }
    if !has_id(message) {
        *message.id_mut() = Some(format!("{GENERATED}{}", stamp.unique_id()));
    }
}

fn has_id(message: &Message) -> bool {
    message.id().is_some_and(|id| !id.is_empty())
}
