use std::collections::{BTreeSet, HashMap};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::reducers::{ReduceError, Reducer, Stamp, StoredAs, Undo};

use super::update::Removed;
use super::{Message, MessageUpdate, MessagesUpdate, Remove};

/// A reducer for conversations: appends new messages, and replaces messages with a known id.
///
/// Select it with `#[state(reducer = add_messages)]`. A setter takes one of these values, or a `Vec`, an array or an
/// `Option` of them:
///
/// | value | effect |
/// |---|---|
/// | a [`Message`], or one of its kinds | appends it, or replaces the message with the same id |
/// | `"text"` | appends a message from a person |
/// | `(Role::System, "text")` | appends a message of that role |
/// | [`Remove::id`] | removes that message; an unknown id is an error |
/// | [`Remove::all`] | removes all messages, including those before it in the same update |
///
/// If one update has several messages with the same id, the last one wins and takes the place of the first. A message
/// that is removed and added again in one update keeps its place.
///
/// `Overwrite(messages)` removes all messages and adds these.
///
/// Messages and tool calls without an id get one when the update is prepared. On a thread, the id is derived from the
/// superstep, the task and the thread, so a superstep that runs again after a crash produces the same ids. Without a
/// thread, ids are random. A tool message must have the id of its call.
///
/// A checkpoint stores the update, not the whole conversation.
#[derive(Debug)]
pub enum AddMessages {}

/// A prepared update, in which all messages have ids.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "MessagesUpdate", into = "MessagesUpdate")]
pub struct MessagesDelta {
    updates: Vec<MessageUpdate>,
    /// `true` if all ids were made for this update, so no message with one of them can exist.
    new: bool,
}

impl MessagesDelta {
    /// Returns the changes in order.
    pub fn updates(&self) -> &[MessageUpdate] {
        &self.updates
    }
}

impl From<MessagesUpdate> for MessagesDelta {
    fn from(update: MessagesUpdate) -> Self {
        Self { updates: update.0, new: false }
    }
}

impl From<MessagesDelta> for MessagesUpdate {
    fn from(delta: MessagesDelta) -> Self {
        Self(delta.updates)
    }
}

/// Creates a unique message id.
fn new_id(stamp: &Stamp<'_>, place: impl fmt::Display) -> String {
    let Stamp { thread, step, node, index, write, .. } = stamp;
    match thread {
        Some(thread) => format!("{step}.{index}.{write}.{place}.{node}@{thread}"),
        // A run's final state may be the input of the next run, so only random ids are unique.
        None => format!("{}.{place}", ulid::Ulid::generate().to_string().to_lowercase()),
    }
}

/// Creates a unique call id. Providers allow only letters, digits, `_` and `-`.
fn new_call_id(stamp: &Stamp<'_>, place: usize, call: usize) -> String {
    let Stamp { thread, step, index, write, .. } = stamp;
    match thread {
        Some(_) => format!("call_{step}_{index}_{write}_{place}_{call}"),
        None => format!("call_{}_{place}_{call}", ulid::Ulid::generate().to_string().to_lowercase()),
    }
}

/// Adds missing ids to a message and its calls. Returns `true` if the message had none.
fn identify(message: &mut Message, stamp: &Stamp<'_>, place: usize) -> bool {
    if let Message::Ai(message) = message {
        let calls = message.tool_calls.iter_mut().map(|call| &mut call.id);
        let calls = calls.chain(message.invalid_tool_calls.iter_mut().map(|call| &mut call.id));
        for (call, id) in calls.enumerate().filter(|(_, id)| id.is_empty()) {
            *id = new_call_id(stamp, place, call);
        }
    }
    let has_none = message.id().is_none_or(str::is_empty);
    if has_none {
        *message.id_mut() = Some(new_id(stamp, place));
    }
    has_none
}

#[diagnostic::do_not_recommend]
impl Reducer<Vec<Message>> for AddMessages {
    type Update = MessagesUpdate;
    type Delta = MessagesDelta;

    const STORED: StoredAs = StoredAs::Delta;

    fn check_input(update: &MessagesUpdate) -> Result<(), ReduceError> {
        update.of_input()
    }

    fn prepare(update: MessagesUpdate, stamp: &Stamp<'_>) -> Result<MessagesDelta, ReduceError> {
        let mut updates = update.0;
        let mut new = true;
        for (place, update) in updates.iter_mut().enumerate() {
            let MessageUpdate::Put(message) = update else {
                new = false;
                continue;
            };
            if let Message::Tool(message) = &**message
                && message.tool_call_id.is_empty()
            {
                return Err(ReduceError::new(
                    "a tool message needs the id of the call that it answers: create it with `Message::tool(call_id, ..)`",
                ));
            }
            new &= identify(message, stamp, place);
        }
        Ok(MessagesDelta { updates, new })
    }

    fn prepare_overwrite(value: Vec<Message>, stamp: &Stamp<'_>) -> Result<Vec<Message>, ReduceError> {
        let identified = value.into_iter().enumerate().map(|(place, mut message)| {
            identify(&mut message, stamp, place);
            message.into()
        });
        let mut settled = Vec::new();
        merge(&mut settled, MessagesDelta { updates: identified.collect(), new: false }, false)?;
        Ok(settled)
    }

    fn fold(value: &mut Vec<Message>, delta: MessagesDelta) -> Result<(), ReduceError> {
        merge(value, delta, false).map(drop)
    }

    fn apply(value: &mut Vec<Message>, delta: MessagesDelta) -> Result<Undo<Vec<Message>>, ReduceError> {
        let before = value.len();
        Ok(merge(value, delta, true)?.unwrap_or(Undo::Length(before, Vec::truncate)))
    }
}

/// Applies a delta to a list. Returns an undo if `undo` is set and truncating to the old length is not enough.
fn merge(
    value: &mut Vec<Message>,
    delta: MessagesDelta,
    undo: bool,
) -> Result<Option<Undo<Vec<Message>>>, ReduceError> {
    let MessagesDelta { mut updates, new } = delta;
    if new {
        value.extend(updates.into_iter().filter_map(into_message));
        return Ok(None);
    }
    let is_all = |update: &MessageUpdate| matches!(update, MessageUpdate::Remove(Remove(Removed::All)));
    let cleared = updates.iter().rposition(is_all).map(|last| drop(updates.drain(..=last))).is_some();
    // All updates are checked before the first write.
    let places = places(if cleared { &[] } else { value }, &updates)?;
    let removes = updates.iter().any(|update| matches!(update, MessageUpdate::Remove(_)));
    let length = value.len();
    let before = if cleared { Some(std::mem::take(value)) } else { (undo && removes).then(|| value.clone()) };

    let (mut gone, mut replaced) = (BTreeSet::new(), Vec::new());
    for (update, at) in updates.into_iter().zip(places) {
        match (update, value.get_mut(at)) {
            (MessageUpdate::Remove(_), _) => {
                gone.insert(at);
            }
            (MessageUpdate::Put(message), Some(there)) => {
                gone.remove(&at);
                replaced.push((at, std::mem::replace(there, *message)));
            }
            (MessageUpdate::Put(message), None) => value.push(*message),
        }
    }
    if !gone.is_empty() {
        let mut at = 0..;
        value.retain(|_| at.next().is_none_or(|at| !gone.contains(&at)));
    }

    Ok(match before {
        Some(before) => Some(Undo::Value(before)),
        None if replaced.is_empty() => None,
        None => Some(Undo::With(Box::new(move |value: &mut Vec<Message>| {
            for (at, message) in replaced.into_iter().rev() {
                if let Some(there) = value.get_mut(at) {
                    *there = message;
                }
            }
            value.truncate(length);
        }))),
    })
}

/// Returns the position of each update: that of the message with its id, possibly new in the same update, or the end.
fn places(value: &[Message], updates: &[MessageUpdate]) -> Result<Vec<usize>, ReduceError> {
    let mut known = MessageIndex::of(value, updates.len());
    let mut end = value.len();
    let mut places = Vec::with_capacity(updates.len());
    for update in updates {
        let id = match update {
            MessageUpdate::Put(message) => message.id().unwrap_or_default(),
            MessageUpdate::Remove(Remove(Removed::Id(id))) => id,
            MessageUpdate::Remove(Remove(Removed::All)) => continue,
        };
        let at = match (known.place(id), update) {
            (Some(at), _) => at,
            (None, MessageUpdate::Put(_)) => {
                known.new.insert(id, end);
                end += 1;
                end - 1
            }
            (None, MessageUpdate::Remove(_)) => {
                return Err(ReduceError::new(format!(
                    "cannot remove message `{id}`: the list has no message with this id"
                )));
            }
        };
        places.push(at);
    }
    Ok(places)
}

/// Finds messages by id.
struct MessageIndex<'a> {
    existing: Existing<'a>,
    new: HashMap<&'a str, usize>,
}

enum Existing<'a> {
    /// A linear search, for a few look-ups.
    List(&'a [Message]),
    /// A map, for many look-ups.
    Map(HashMap<&'a str, usize>),
}

/// The number of look-ups above which a map is built.
const FEW: usize = 4;

impl<'a> MessageIndex<'a> {
    fn of(value: &'a [Message], lookups: usize) -> Self {
        let existing = if lookups <= FEW {
            Existing::List(value)
        } else {
            let id = |(at, message): (usize, &'a Message)| Some((message.id()?, at));
            // The first message with an id wins, as in the linear search.
            Existing::Map(value.iter().enumerate().rev().filter_map(id).collect())
        };
        Self { existing, new: HashMap::new() }
    }

    fn place(&self, id: &str) -> Option<usize> {
        let existing = match &self.existing {
            Existing::List(list) => list.iter().position(|message| message.id() == Some(id)),
            Existing::Map(map) => map.get(id).copied(),
        };
        existing.or_else(|| self.new.get(id).copied())
    }
}

fn into_message(update: MessageUpdate) -> Option<Message> {
    match update {
        MessageUpdate::Put(message) => Some(*message),
        MessageUpdate::Remove(_) => None,
    }
}

#[cfg(test)]
mod tests;
