use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use crate::messages::{HumanMessage, Message, ToolMessage, ToolStatus};

use super::{blocks, calls};

/// The first turn of the user in a history that begins without one.
const FIRST: &str = "Begin.";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    User,
    Assistant,
}

/// A turn of one side.
struct Turn {
    side: Side,
    /// The results of the calls in the turn before.
    results: Vec<Value>,
    blocks: Vec<Value>,
}

/// The turns so far. Sides always alternate.
#[derive(Default)]
pub(super) struct Turns {
    turns: Vec<Turn>,
    /// The turn of each call that has no answer yet.
    open: HashMap<String, usize>,
    /// The answered calls. A second answer would be refused.
    answered: HashSet<String>,
}

impl Turns {
    pub(super) fn add(&mut self, message: &Message) {
        match message {
            Message::System(message) => self.say(Side::User, blocks::texts(&message.content)),
            Message::Human(message) => self.human(message),
            Message::Tool(message) => self.tool(message),
            Message::Ai(message) => {
                self.say(Side::Assistant, calls::with_content(message));
                let at = self.turns.len().saturating_sub(1);
                self.open.extend(message.calls().map(|(id, _)| (id.to_owned(), at)));
            }
        }
    }

    fn say(&mut self, side: Side, blocks: Vec<Value>) {
        if !blocks.is_empty()
            && let Some(turn) = self.last(side)
        {
            turn.blocks.extend(blocks);
        }
    }

    /// Returns the last turn if it belongs to this side, or adds one.
    fn last(&mut self, side: Side) -> Option<&mut Turn> {
        let length = self.turns.len();
        let same_side = self.turns.last().is_some_and(|last| last.side == side);
        self.turn(if same_side { length.saturating_sub(1) } else { length }, side)
    }

    /// Returns the turn at this index, or adds it at the end.
    fn turn(&mut self, at: usize, side: Side) -> Option<&mut Turn> {
        if at == self.turns.len() {
            self.turns.push(Turn { side, results: Vec::new(), blocks: Vec::new() });
        }
        self.turns.get_mut(at)
    }

    fn human(&mut self, message: &HumanMessage) {
        // Callers who write Anthropic's format by hand put tool results into a message of the user.
        let is_result = |block: &Value| block["type"] == "tool_result";
        let (results, blocks): (Vec<_>, Vec<_>) =
            blocks::of(&message.content).into_iter().partition(is_result);
        if !results.is_empty()
            && let Some(turn) = self.last(Side::User)
        {
            turn.results.extend(results);
        }
        self.say(Side::User, blocks);
    }

    fn tool(&mut self, message: &ToolMessage) {
        let Some(at) = self.open.remove(&message.tool_call_id) else {
            if !self.answered.contains(&message.tool_call_id) {
                self.say(Side::User, blocks::of(&message.content));
            }
            return;
        };
        self.answered.insert(message.tool_call_id.clone());
        let mut result = json!({"type": "tool_result", "tool_use_id": calls::id(&message.tool_call_id)});
        if let Some(result) = result.as_object_mut() {
            let content = blocks::result(&message.content);
            if !content.is_empty() {
                result.insert("content".to_owned(), content.into());
            }
            if message.status == ToolStatus::Error {
                result.insert("is_error".to_owned(), true.into());
            }
        }
        // Sides alternate, so the turn after the calls is the user's.
        if let Some(turn) = self.turn(at + 1, Side::User) {
            turn.results.push(result);
        }
    }

    pub(super) fn finish(self) -> Vec<Value> {
        let begins = self.turns.first().is_some_and(|turn| turn.side == Side::User);
        let first = Turn { side: Side::User, results: Vec::new(), blocks: vec![blocks::text(FIRST)] };
        let first = if begins { None } else { Some(first) };
        let turn = |turn: Turn| {
            let role = if turn.side == Side::User { "user" } else { "assistant" };
            let content: Vec<_> = turn.results.into_iter().chain(turn.blocks).collect();
            json!({"role": role, "content": content})
        };
        first.into_iter().chain(self.turns).map(turn).collect()
    }
}
