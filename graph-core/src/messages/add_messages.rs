use std::collections::{BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use crate::reducers::{Begin, ReduceError, Reducer, Stamp, StoredAs, Undo};

use super::ids::{add_ids, identify, is_generated};
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
/// Messages and tool calls without an id get one when the update is prepared: a random id that no other message has, on
/// any branch or thread. It is stored with the result of the task, so a crash does not change it. A task that runs again
/// adds new messages. A tool message must have the id of its call.
///
/// The JSON of a run's *input* may come from a client. It can only add messages ([`MessageUpdate::Add`]).
///
/// A checkpoint stores the update, not the whole conversation.
#[derive(Debug)]
pub enum AddMessages {}

/// A prepared update, in which all messages have ids.
///
/// A message with a new id is a [`New`](MessageUpdate::New), also in a checkpoint, so that it is appended without a search
/// whenever the update is applied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MessagesDelta(MessagesUpdate);

impl MessagesDelta {
    /// Returns the changes in order.
    pub fn updates(&self) -> &[MessageUpdate] {
        &self.0.0
    }
}

impl Begin<Vec<Message>> for AddMessages {
    fn begin(delta: MessagesDelta) -> Result<Vec<Message>, ReduceError> {
        let mut messages = Vec::new();
        Self::apply(&mut messages, delta)?;
        Ok(messages)
    }
}

#[diagnostic::do_not_recommend]
impl Reducer<Vec<Message>> for AddMessages {
    type Update = MessagesUpdate;
    type Delta = MessagesDelta;

    const STORED: StoredAs = StoredAs::Delta;

    fn of_input(update: MessagesUpdate) -> Result<MessagesUpdate, ReduceError> {
        update.of_input()
    }

    fn prepare(update: MessagesUpdate, stamp: &Stamp<'_>) -> Result<MessagesDelta, ReduceError> {
        let updates = update.0.into_iter().map(|update| identify(update, stamp)).collect::<Result<_, _>>()?;
        Ok(MessagesDelta(MessagesUpdate(updates)))
    }

    fn prepare_overwrite(value: Vec<Message>, stamp: &Stamp<'_>) -> Result<Vec<Message>, ReduceError> {
        let identified = value.into_iter().map(|mut message| {
            add_ids(&mut message, stamp);
            message
        });
        let mut settled = Vec::new();
        merge(&mut settled, MessagesDelta(identified.collect()), false)?;
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
    let MessagesDelta(MessagesUpdate(mut updates)) = delta;
    if updates.iter().all(|update| matches!(update, MessageUpdate::New(_))) {
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
            (update, Some(there)) => {
                gone.remove(&at);
                replaced.extend(into_message(update).map(|message| (at, std::mem::replace(there, message))));
            }
            (update, None) => value.extend(into_message(update)),
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
        let at = match update {
            MessageUpdate::Remove(Remove(Removed::All)) => continue,
            MessageUpdate::Remove(Remove(Removed::Id(id))) => known.place(id).ok_or_else(|| {
                ReduceError::new(format!(
                    "cannot remove message `{id}`: the list has no message with this id"
                ))
            })?,
            MessageUpdate::Put(message) | MessageUpdate::Add(message) | MessageUpdate::New(message) => {
                let id = message.id().unwrap_or_default();
                // No message has a new id.
                let at = if matches!(update, MessageUpdate::New(_)) { None } else { known.place(id) };
                if matches!(update, MessageUpdate::Add(_)) {
                    can_be_added(message, id, at.map(|at| value.get(at)), value.is_empty())?;
                }
                at.unwrap_or_else(|| {
                    known.new.insert(id, end);
                    end += 1;
                    end - 1
                })
            }
        };
        places.push(at);
    }
    Ok(places)
}

/// Checks that a message of a client replaces no other message. `found` is the place of its id: a message of the list, or
/// `None` inside it for an earlier message of the same update.
fn can_be_added(
    message: &Message,
    id: &str,
    found: Option<Option<&Message>>,
    is_first: bool,
) -> Result<(), ReduceError> {
    match found {
        Some(Some(there)) if there != message => Err(ReduceError::new(format!(
            "a client cannot change message `{id}`: send a new message without an id, or change it with an update"
        ))),
        None if !is_first && is_generated(id) => Err(ReduceError::new(format!(
            "a client cannot choose the id `{id}`, which has the form of generated ids: leave it out, or choose another"
        ))),
        Some(_) | None => Ok(()),
    }
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
        MessageUpdate::Put(message) | MessageUpdate::Add(message) | MessageUpdate::New(message) => {
            Some(*message)
        }
        MessageUpdate::Remove(_) => None,
    }
}

#[cfg(test)]
mod tests;
