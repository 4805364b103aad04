use std::collections::{BTreeSet, HashMap};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::reducers::{ReduceError, Reducer, Stamp, StoredAs, Undo};

use super::update::Removed;
use super::{Message, MessageUpdate, MessagesUpdate, Remove};

/// Keeps a conversation: appends what is new, and puts what has the id of a message that is there into its place.
///
/// In the attribute it is `#[state(reducer = add_messages)]`. A setter takes one of these, or a `Vec`, an array or an
/// `Option` of them:
///
/// | value | what it does |
/// |---|---|
/// | a [`Message`], or one of its kinds | appends it, or puts it in the place of the message with its id |
/// | `"text"` | appends it as a person's message |
/// | `(Role::System, "text")` | appends it as a message of that role |
/// | [`Remove::id`] | takes that message out; that it is not there is an error |
/// | [`Remove::all`] | takes everything out, also what stands before it in the same update |
///
/// Of messages with one id in one update the last wins, at the place of the first; what is removed and put again in one
/// update keeps its old place.
///
/// `Overwrite(messages)` is as if all were removed and these put. Messages without an id, and calls of tools without one, are given one when the update is prepared: on a
/// thread an id that follows from superstep, task and thread, so that a superstep which runs again after a crash makes the
/// same ones; without a thread a random one. A tool's message has to say which call it answers.
///
/// A checkpoint stores what was written, not the whole conversation.
#[derive(Debug)]
pub enum AddMessages {}

/// An update of messages that all have their ids.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "MessagesUpdate", into = "MessagesUpdate")]
pub struct MessagesDelta {
    updates: Vec<MessageUpdate>,
    /// Nobody has the ids: they were made for this update, and there is nothing to look for.
    new: bool,
}

impl MessagesDelta {
    /// What it does, one thing after the other.
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

/// Makes an id that no other write has.
fn new_id(stamp: &Stamp<'_>, place: impl fmt::Display) -> String {
    let Stamp { thread, step, node, index, write, .. } = stamp;
    match thread {
        Some(thread) => format!("{step}.{index}.{write}.{place}.{node}@{thread}"),
        // The state of one run may be the input of the next: there is nothing to tell them apart by.
        None => format!("{}.{place}", ulid::Ulid::generate().to_string().to_lowercase()),
    }
}

/// The same for a call. Providers take no id of a call with other characters than letters, digits, `_` and `-`.
fn new_call_id(stamp: &Stamp<'_>, place: usize, call: usize) -> String {
    let Stamp { thread, step, index, write, .. } = stamp;
    match thread {
        Some(_) => format!("call_{step}_{index}_{write}_{place}_{call}"),
        None => format!("call_{}_{place}_{call}", ulid::Ulid::generate().to_string().to_lowercase()),
    }
}

/// Gives a message and its calls the ids that they lack; whether the message had none.
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

    fn admit(update: &MessagesUpdate) -> Result<(), ReduceError> {
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
                    "a tool's message must say which call it answers: make it with `Message::tool(call_id, ..)`",
                ));
            }
            new &= identify(message, stamp, place);
        }
        Ok(MessagesDelta { updates, new })
    }

    /// As if all were removed, and these put.
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

/// Writes a delta into a list. Gives back what it was, if that is asked for and takes more than to cut it to its old length.
fn merge(
    value: &mut Vec<Message>,
    delta: MessagesDelta,
    undo: bool,
) -> Result<Option<Undo<Vec<Message>>>, ReduceError> {
    let MessagesDelta { mut updates, new } = delta;
    if new {
        value.extend(updates.into_iter().filter_map(put));
        return Ok(None);
    }
    let is_all = |update: &MessageUpdate| matches!(update, MessageUpdate::Remove(Remove(Removed::All)));
    let cleared = updates.iter().rposition(is_all).map(|last| drop(updates.drain(..=last))).is_some();
    // Nothing is written before all of it is known to fit.
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

/// Where each update of a list belongs: at the message with its id, also if that is new in the same update, or behind all.
fn places(value: &[Message], updates: &[MessageUpdate]) -> Result<Vec<usize>, ReduceError> {
    let mut known = Known::of(value, updates.len());
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
                return Err(ReduceError::new(format!("there is no message `{id}` to remove")));
            }
        };
        places.push(at);
    }
    Ok(places)
}

/// Which message is where.
struct Known<'a> {
    there: There<'a>,
    new: HashMap<&'a str, usize>,
}

enum There<'a> {
    /// To be looked through for a few.
    List(&'a [Message]),
    /// Worth its making for many.
    Map(HashMap<&'a str, usize>),
}

/// How many look-ups a map is worth.
const FEW: usize = 4;

impl<'a> Known<'a> {
    fn of(value: &'a [Message], lookups: usize) -> Self {
        let there = if lookups <= FEW {
            There::List(value)
        } else {
            let id = |(at, message): (usize, &'a Message)| Some((message.id()?, at));
            // The first of those with one id, as in a list.
            There::Map(value.iter().enumerate().rev().filter_map(id).collect())
        };
        Self { there, new: HashMap::new() }
    }

    fn place(&self, id: &str) -> Option<usize> {
        let there = match &self.there {
            There::List(list) => list.iter().position(|message| message.id() == Some(id)),
            There::Map(map) => map.get(id).copied(),
        };
        there.or_else(|| self.new.get(id).copied())
    }
}

fn put(update: MessageUpdate) -> Option<Message> {
    match update {
        MessageUpdate::Put(message) => Some(*message),
        MessageUpdate::Remove(_) => None,
    }
}

#[cfg(test)]
mod tests;
