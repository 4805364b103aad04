use serde_json::{Map, Value};
use superstep::messages::{MessageChunk, ToolCallChunk};

use super::failure::Fault;
use super::reply::{first_choice, thought};
use super::{metadata, usage};

/// Reads the pieces of a streamed reply.
#[derive(Default)]
pub(super) struct Deltas {
    /// What was said of the reply before: it comes with each piece again.
    said: Map<String, Value>,
    calls: Vec<Begun>,
    begun: bool,
    stopped: bool,
}

/// A call that is being written.
struct Begun {
    /// The number that the provider gives it; not every one gives different calls different ones.
    number: Option<u64>,
    /// The number that we give it: the provider's, if no other call has it.
    index: usize,
    id: String,
    named: bool,
}

impl Deltas {
    /// Reads a piece; none if there is nothing new in it.
    pub(super) fn read(&mut self, mut piece: Map<String, Value>) -> Option<MessageChunk> {
        self.begun = true;
        let mut choice = first_choice(&mut piece).unwrap_or_default();
        let mut chunk = match choice.remove("delta") {
            Some(Value::Object(delta)) => self.delta(delta),
            _ => MessageChunk::default(),
        };
        self.stopped |= choice.get("finish_reason").is_some_and(|reason| !reason.is_null());
        chunk.usage = piece.get("usage").and_then(usage::read);
        chunk.response_metadata = self.news(metadata::read(piece, choice));
        (chunk != MessageChunk::default()).then_some(chunk)
    }

    /// What is wrong if nothing comes any more.
    pub(super) fn ended(&self) -> Result<(), Fault> {
        match (self.begun, self.stopped) {
            (_, true) => Ok(()),
            (true, false) => Err(Fault::BrokenOff),
            (false, false) => Err(Fault::NoPiece),
        }
    }

    fn news(&mut self, said: Map<String, Value>) -> Map<String, Value> {
        // Those of each token are its own, also when they are the same.
        let news =
            said.into_iter().filter(|(key, value)| key == "logprobs" || self.said.get(key) != Some(value));
        let news: Map<String, Value> = news.collect();
        self.said.extend(news.clone());
        news
    }

    fn delta(&mut self, mut delta: Map<String, Value>) -> MessageChunk {
        let mut chunk = MessageChunk::default();
        chunk.reasoning = thought(&mut delta);
        match delta.remove("content") {
            Some(Value::String(text)) => chunk.text = text,
            Some(Value::Array(parts)) => {
                let texts = parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str));
                chunk.text = texts.collect();
            }
            _ => {}
        }
        if let Some(Value::Array(calls)) = delta.remove("tool_calls") {
            chunk.calls = calls.into_iter().map(|call| self.call(call)).collect();
        }
        delta.remove("role");
        delta.remove("id");
        delta.retain(|_, value| !value.is_null());
        chunk.additional_kwargs = delta;
        chunk
    }

    fn call(&mut self, mut call: Value) -> ToolCallChunk {
        let text = |value: Option<&Value>| {
            value.and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let number = call.get("index").and_then(Value::as_u64);
        let id = text(call.get("id"));
        let function = call.get_mut("function").map(Value::take).unwrap_or_default();
        let name = text(function.get("name"));
        let args = match function.get("arguments") {
            Some(Value::String(args)) => args.clone(),
            // Some servers write the object itself.
            Some(args @ Value::Object(_)) => args.to_string(),
            _ => String::new(),
        };
        let place = self.place(number, id.as_deref(), name.is_some());
        let Some(begun) = self.calls.get_mut(place) else { return self.begin(number, id, name, args) };
        // What is said once is not said again, and least of all in other words.
        let id = id.filter(|_| begun.id.is_empty());
        begun.id.extend(id.as_deref());
        let name = name.filter(|_| !begun.named);
        begun.named |= name.is_some();
        ToolCallChunk { index: begun.index, id, name, args }
    }

    /// The call that a piece belongs to: the last one of its number, unless it names another. There are providers that number all
    /// calls alike, or not at all, and others that give each piece an id of its own, but a name only to the first.
    fn place(&self, number: Option<u64>, id: Option<&str>, named: bool) -> usize {
        let same = |begun: &Begun| number.is_none() || begun.number == number;
        let other = |begun: &Begun| named && id.is_some_and(|id| !begun.id.is_empty() && begun.id != id);
        let last = self.calls.iter().enumerate().rfind(|(_, begun)| same(begun));
        last.filter(|(_, begun)| !other(begun)).map_or(self.calls.len(), |(place, _)| place)
    }

    fn begin(
        &mut self,
        number: Option<u64>,
        id: Option<String>,
        name: Option<String>,
        args: String,
    ) -> ToolCallChunk {
        let taken = |index: &usize| self.calls.iter().any(|begun| begun.index == *index);
        let own = number.and_then(|number| usize::try_from(number).ok()).filter(|index| !taken(index));
        let next = || self.calls.iter().map(|begun| begun.index.saturating_add(1)).max().unwrap_or_default();
        let index = own.unwrap_or_else(next);
        self.calls.push(Begun { number, index, id: id.clone().unwrap_or_default(), named: name.is_some() });
        ToolCallChunk { index, id, name, args }
    }
}

#[cfg(test)]
mod tests;
