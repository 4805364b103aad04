//! Chat endpoints that are strict about the order of messages.
//!
//! They check roles, calls and answers, and ignore the content of messages.

use std::collections::BTreeSet;
use std::fmt;

use superstep::messages::{Message, Role};

pub mod json;

/// The refusal of a history by an endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The status of the response.
    pub status: u16,
    /// The text of the response.
    pub text: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.status, self.text)
    }
}

impl std::error::Error for Refusal {}

fn refused<T>(text: String) -> Result<T, Refusal> {
    Err(Refusal { status: 400, text })
}

/// Checks a history by the rules of OpenAI's endpoints.
///
/// A model's message with calls is followed directly by tool messages, one for each call. Tool messages occur nowhere
/// else.
///
/// # Errors
/// The first message that breaks a rule.
pub fn openai(history: &[Message]) -> Result<(), Refusal> {
    let mut open: BTreeSet<&str> = BTreeSet::new();
    for (at, message) in history.iter().enumerate() {
        if let Message::Tool(tool) = message {
            if !open.remove(tool.tool_call_id.as_str()) {
                let id = &tool.tool_call_id;
                return refused(format!("messages.{at}: the tool message of `{id}` answers no open call"));
            }
            continue;
        }
        if !open.is_empty() {
            return refused(format!("messages.{at}: {open:?} must be answered before this"));
        }
        if let Message::Ai(ai) = message {
            open = ai.calls().map(|(id, _)| id).collect();
        }
    }
    if open.is_empty() { Ok(()) } else { refused(format!("{open:?} must be answered")) }
}

/// Checks a history by the rules of Anthropic's endpoints.
///
/// The turn after one with tool uses is the user's. It begins with the result of each of them, once. Results occur
/// nowhere else. System messages do not count, and consecutive messages of one side are one turn.
///
/// # Errors
/// The first turn that breaks a rule.
pub fn anthropic(history: &[Message]) -> Result<(), Refusal> {
    let side = |message: &Message| message.role() == Role::Ai;
    let spoken: Vec<&Message> = history.iter().filter(|message| message.role() != Role::System).collect();
    let mut used: BTreeSet<&str> = BTreeSet::new();
    for (at, turn) in spoken.chunk_by(|a, b| side(a) == side(b)).enumerate() {
        let results: Vec<&str> =
            turn.iter().filter_map(|message| Some(&*message.as_tool()?.tool_call_id)).collect();
        let first = turn.iter().take_while(|message| message.role() == Role::Tool).count();
        if first < results.len() {
            return refused(format!("messages.{at}: tool results come first in their turn"));
        }
        let given: BTreeSet<&str> = results.iter().copied().collect();
        if given.len() < results.len() {
            return refused(format!("messages.{at}: a tool use has one result, these are {results:?}"));
        }
        if let Some(id) = given.difference(&used).next() {
            return refused(format!("messages.{at}: the turn before has no tool use `{id}`"));
        }
        if let Some(id) = used.difference(&given).next() {
            return refused(format!("messages.{at}: the tool use `{id}` has no result here"));
        }
        let uses = turn.iter().filter_map(|message| message.as_ai());
        used = uses.flat_map(|ai| ai.calls().map(|(id, _)| id)).collect();
    }
    if used.is_empty() { Ok(()) } else { refused(format!("the tool uses {used:?} have no results")) }
}

/// Checks a history by both sets of rules.
///
/// # Errors
/// The first message or turn that breaks a rule of either.
pub fn strict(history: &[Message]) -> Result<(), Refusal> {
    openai(history)?;
    anthropic(history)
}

#[cfg(test)]
mod tests {
    use superstep::messages::{AiMessage, ToolCall};

    use super::*;

    fn calls(ids: &[&str]) -> Message {
        ids.iter().fold(AiMessage::new(""), |ai, id| ai.call(ToolCall::new(*id, "tool"))).into()
    }

    fn tool(id: &str) -> Message {
        Message::tool(id, "")
    }

    #[test]
    fn ordered_histories_are_accepted() {
        for history in [
            vec![],
            vec![Message::system(""), Message::human(""), Message::ai("")],
            vec![Message::human(""), calls(&["1", "2"]), tool("2"), tool("1"), Message::ai("")],
            vec![Message::human(""), calls(&["1"]), tool("1"), Message::human("")],
            vec![calls(&["0"]), tool("0"), calls(&["0"]), tool("0")],
        ] {
            assert_eq!(strict(&history), Ok(()), "{history:?}");
        }
    }

    #[test]
    fn misordered_histories_are_refused() {
        let human = || Message::human("");
        for history in [
            vec![calls(&["1"])],
            vec![calls(&["1"]), human()],
            vec![calls(&["1", "2"]), tool("1"), human()],
            vec![calls(&["1", "2"]), tool("1"), human(), tool("2")],
            vec![calls(&["1"]), human(), tool("1")],
            vec![calls(&["1"]), tool("1"), tool("1")],
            vec![calls(&["1"]), tool("1"), human(), tool("1")],
            vec![calls(&["1"]), tool("1"), tool("2")],
            vec![calls(&["1"]), calls(&["2"]), tool("2"), human()],
            vec![human(), tool("1"), calls(&["1"]), tool("1")],
            vec![tool("1")],
        ] {
            assert!(openai(&history).is_err(), "{history:?}");
            assert!(anthropic(&history).is_err(), "{history:?}");
        }
        let with_system_message = [calls(&["1"]), Message::system(""), tool("1")];
        assert!(openai(&with_system_message).is_err() && anthropic(&with_system_message).is_ok());
    }
}
