use std::collections::{HashMap, HashSet};

use crate::messages::{AiMessage, Message, MessageUpdate, MessagesUpdate, Remove, ToolMessage};

use super::RepairTexts;

/// Repairs a history: returns an update for [`add_messages`](crate::messages::AddMessages), or `None` if the history is
/// in order. See [the rules](super#repairs).
///
/// If only the end lacks messages, they are appended. Otherwise the update removes all messages and adds them again in
/// the right order, with the same ids. Messages that `repair` adds have no id yet, like any new message.
///
/// Calls without an id are ignored, because nothing can answer them. `add_messages` never stores such calls.
///
/// ```
/// use superstep::messages::{AiMessage, Message, ToolCall, sanity};
///
/// let mut history = vec![Message::human("what time is it?")];
/// assert_eq!(sanity::repair(&history, &sanity::RepairTexts::default()), None);
///
/// history.push(AiMessage::new("").call(ToolCall::new("call_1", "clock")).into());
/// let update = sanity::repair(&history, &sanity::RepairTexts::default()).unwrap_or_default();
/// // An answer to the call, and a closing message from the model.
/// assert_eq!(update.0.len(), 2);
/// ```
pub fn repair(history: &[Message], texts: &RepairTexts) -> Option<MessagesUpdate> {
    let mut parts = parts(history, texts);
    if matches!(parts.last().map(Part::message), Some(Message::Tool(_))) {
        parts.push(Part::added(Message::ai(&*texts.closing)));
    }
    let unmoved = |(at, part): &(usize, &Part<'_>)| matches!(part, Part::Kept(place, _) if place == at);
    let unchanged = parts.iter().enumerate().take_while(unmoved).count();
    if unchanged == history.len() {
        let added = parts.split_off(unchanged);
        return (!added.is_empty()).then(|| added.into_iter().map(Part::into_update).collect());
    }
    let all = std::iter::once(Remove::all().into());
    Some(all.chain(parts.into_iter().map(Part::into_update)).collect())
}

/// Returns a history in order, for a request to a model, without storing it. The rules are those of [`repair`], except
/// at the end: a history that ends with tool messages gets no closing message, because the requested reply follows.
///
/// ```
/// use superstep::messages::{AiMessage, Message, ToolCall, sanity};
///
/// let call = AiMessage::new("").call(ToolCall::new("call_1", "clock"));
/// let history = [call.into(), Message::human("hello?"), Message::tool("call_1", "noon")];
/// let sent = sanity::in_order(&history, &sanity::RepairTexts::default());
/// assert_eq!((sent[1].text(), sent[2].text()), ("noon".into(), "hello?".into()));
/// ```
pub fn in_order(history: &[Message], texts: &RepairTexts) -> Vec<Message> {
    parts(history, texts).into_iter().map(Part::into_message).collect()
}

/// A message of the repaired history.
enum Part<'a> {
    /// A message of the original history, and its index there.
    Kept(usize, &'a Message),
    Added(Box<Message>),
}

impl Part<'_> {
    fn added(message: impl Into<Message>) -> Self {
        Self::Added(Box::new(message.into()))
    }

    fn message(&self) -> &Message {
        match self {
            Self::Kept(_, message) => message,
            Self::Added(message) => message,
        }
    }

    fn into_message(self) -> Message {
        match self {
            Self::Kept(_, message) => message.clone(),
            Self::Added(message) => *message,
        }
    }

    fn into_update(self) -> MessageUpdate {
        MessageUpdate::from(self.into_message())
    }
}

fn parts<'a>(history: &'a [Message], texts: &RepairTexts) -> Vec<Part<'a>> {
    let mut answers = answers(history);
    let mut parts: Vec<Part<'a>> = Vec::with_capacity(history.len());
    for (place, message) in history.iter().enumerate() {
        match message {
            Message::Human(_) => {
                if matches!(parts.last().map(Part::message), Some(Message::Human(_))) {
                    parts.push(Part::added(Message::system(&*texts.note)));
                }
                parts.push(Part::Kept(place, message));
            }
            Message::System(_) => parts.push(Part::Kept(place, message)),
            Message::Ai(caller) => {
                parts.push(Part::Kept(place, message));
                let answers = answers.remove(&place).unwrap_or_default();
                let missing = unanswered(caller, &answers);
                parts.extend(answers.iter().map(|answer| Part::Kept(answer.place, answer.message)));
                parts.extend(missing.map(|(id, name)| Part::added(placeholder(id, name, texts))));
            }
            // Added together with its call, or dropped.
            Message::Tool(_) => {}
        }
    }
    parts
}

/// Returns the placeholder for a missing answer.
fn placeholder(id: &str, name: &str, texts: &RepairTexts) -> ToolMessage {
    let answer = ToolMessage::error(id, &*texts.placeholder);
    // An invalid call may have no name.
    if name.is_empty() { answer } else { answer.name(name) }
}

/// A tool message that answers a call.
struct Answer<'a> {
    place: usize,
    id: &'a str,
    message: &'a Message,
}

/// Returns the answers to each message with calls, by its index.
fn answers(history: &[Message]) -> HashMap<usize, Vec<Answer<'_>>> {
    let mut answers: HashMap<usize, Vec<Answer<'_>>> = HashMap::new();
    // For each call id the last message that made it, until it is answered. A second answer must not count for an older
    // call.
    let mut callers: HashMap<&str, Option<usize>> = HashMap::new();
    for (place, message) in history.iter().enumerate() {
        match message {
            Message::Ai(caller) => callers.extend(calls(caller).map(|(id, _)| (id, Some(place)))),
            Message::Tool(tool) => {
                let id = tool.tool_call_id.as_str();
                if let Some(caller) = callers.get_mut(id).and_then(Option::take) {
                    answers.entry(caller).or_default().push(Answer { place, id, message });
                }
            }
            Message::Human(_) | Message::System(_) => {}
        }
    }
    answers
}

/// Returns the id and the tool of each unanswered call, each id once.
fn unanswered<'a>(caller: &'a AiMessage, answers: &[Answer<'a>]) -> impl Iterator<Item = (&'a str, &'a str)> {
    let mut answered: HashSet<&str> = answers.iter().map(|answer| answer.id).collect();
    calls(caller).filter(move |(id, _)| answered.insert(id))
}

fn calls(caller: &AiMessage) -> impl Iterator<Item = (&str, &str)> {
    caller.calls().filter(|(id, _)| !id.is_empty())
}
