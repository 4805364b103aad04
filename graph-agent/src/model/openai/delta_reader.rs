use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use superstep::messages::{Block, BlockChunk, MessageChunk, ToolCallChunk};

use super::failure::InvalidReply;
use super::reply::{first_choice, is_empty, joined_thinking, other_fields, take_reasoning};
use super::{metadata, usage};

/// Reads the chunks of a streamed reply.
#[derive(Default)]
pub(super) struct DeltaReader {
    /// The metadata so far. Providers repeat it in each chunk.
    metadata: Map<String, Value>,
    calls: Vec<PartialCall>,
    /// The position of the last call of each number of the provider.
    by_number: BTreeMap<u64, usize>,
    /// Our numbers of the calls.
    indices: BTreeSet<usize>,
    /// The last block, if the content is a list of parts.
    last_block: Option<LastBlock>,
    started: bool,
    /// `true` after a chunk with a finish reason.
    finished: bool,
}

/// A tool call whose chunks are still arriving.
struct PartialCall {
    /// Our number of the call: the provider's, if no other call has it. Some providers give several calls the same number.
    index: usize,
    id: String,
    has_name: bool,
}

/// The block to which the next part of the content may belong.
struct LastBlock {
    index: usize,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Reasoning,
    /// Never continued: only text arrives in pieces.
    Whole,
}

impl DeltaReader {
    /// Reads a chunk. Returns `None` if it contains nothing new.
    pub(super) fn read(&mut self, mut chunk: Map<String, Value>) -> Option<MessageChunk> {
        self.started = true;
        let mut choice = first_choice(&mut chunk).unwrap_or_default();
        let mut read = match choice.remove("delta") {
            Some(Value::Object(delta)) => self.delta(delta),
            _ => MessageChunk::default(),
        };
        self.finished |= choice.get("finish_reason").is_some_and(|reason| !reason.is_null());
        read.usage = chunk.get("usage").and_then(usage::read);
        read.response_metadata = self.new_metadata(metadata::read(chunk, choice));
        (read != MessageChunk::default()).then_some(read)
    }

    /// Checks at the end of the stream that the reply is complete. `is_cut_off` says that the stream ends within an event.
    pub(super) fn finish(&self, is_cut_off: bool) -> Result<(), InvalidReply> {
        match (self.started || is_cut_off, self.finished) {
            (_, true) => Ok(()),
            (true, false) => Err(InvalidReply::CutOff),
            (false, false) => Err(InvalidReply::NoChunk),
        }
    }

    fn new_metadata(&mut self, metadata: Map<String, Value>) -> Map<String, Value> {
        // `logprobs` belong to each token, even if they are equal to the previous ones.
        let new = metadata
            .into_iter()
            .filter(|(key, value)| key == "logprobs" || self.metadata.get(key) != Some(value));
        let new: Map<String, Value> = new.collect();
        self.metadata.extend(new.clone());
        new
    }

    fn delta(&mut self, mut delta: Map<String, Value>) -> MessageChunk {
        let reasoning = take_reasoning(&mut delta);
        let mut chunk = match delta.remove("content") {
            // Once the content is a list, a string is one of its parts.
            Some(Value::String(text)) if self.last_block.is_some() && !text.is_empty() => {
                self.parts(vec![text.into()], &reasoning)
            }
            Some(Value::Array(parts)) if !parts.is_empty() => self.parts(parts, &reasoning),
            content => {
                let mut chunk = match content {
                    Some(Value::String(text)) => MessageChunk::text(text),
                    _ => MessageChunk::default(),
                };
                chunk.reasoning = reasoning;
                chunk
            }
        };
        if let Some(Value::Array(calls)) = delta.remove("tool_calls") {
            chunk.calls = calls.into_iter().map(|call| self.call(call)).collect();
        }
        delta.remove("role");
        delta.remove("id");
        delta.retain(|_, value| !is_empty(value));
        chunk.additional_kwargs = delta;
        chunk
    }

    /// Reads content that is a list of parts. Their blocks follow the reasoning, whose index is 0.
    fn parts(&mut self, parts: Vec<Value>, reasoning: &str) -> MessageChunk {
        let reasoning = (!reasoning.is_empty()).then(|| BlockChunk::new(0, Block::reasoning(reasoning)));
        let read = parts.into_iter().filter_map(|part| {
            let block: Block = serde_json::from_value(joined_thinking(part)).ok()?;
            let kind = match &block {
                Block::Text(_) => Kind::Text,
                Block::Reasoning(_) => Kind::Reasoning,
                _ => Kind::Whole,
            };
            let index = match &self.last_block {
                Some(last) if last.kind == kind && kind != Kind::Whole => last.index,
                Some(last) => last.index.saturating_add(1),
                None => 1,
            };
            self.last_block = Some(LastBlock { index, kind });
            Some(BlockChunk::new(index, block))
        });
        let read: Vec<_> = read.collect();
        MessageChunk::blocks(reasoning.into_iter().chain(read))
    }

    fn call(&mut self, call: Value) -> ToolCallChunk {
        let Value::Object(mut call) = call else { return ToolCallChunk::default() };
        let text = |value: Option<&Value>| {
            value.and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let number = call.get("index").and_then(Value::as_u64);
        let id = text(call.get("id"));
        let (kind, written) = if call.get("custom").is_some_and(Value::is_object) {
            ("custom", "input")
        } else {
            ("function", "arguments")
        };
        let mut function = match call.remove(kind) {
            Some(Value::Object(function)) => function,
            _ => Map::new(),
        };
        let name = text(function.get("name"));
        let args = match function.remove(written) {
            Some(Value::String(args)) => args,
            // Some servers write the object itself.
            Some(args @ Value::Object(_)) => args.to_string(),
            _ => String::new(),
        };
        let mut extra = other_fields(kind, function, call);
        if kind == "custom" {
            // The input is not JSON.
            extra.insert("type".to_owned(), "invalid_tool_call".into());
            extra.insert("__openai_type__".to_owned(), "custom".into());
        }
        let position = self.position(number, id.as_deref(), name.is_some());
        let mut chunk = match self.calls.get_mut(position) {
            None => self.start_call(number, id, name, args),
            Some(call) => {
                // Only the first id and the first name of a call count.
                let id = id.filter(|_| call.id.is_empty());
                call.id.extend(id.as_deref());
                let name = name.filter(|_| !call.has_name);
                call.has_name |= name.is_some();
                tool_call_chunk(call.index, id, name, args)
            }
        };
        chunk.extra = extra;
        chunk
    }

    /// Returns the position of the call that a chunk belongs to: the last call of its number, unless the chunk starts a new call.
    ///
    /// Some providers give all calls the same number or none. Others give each chunk its own id, but only the first chunk of a call
    /// has a name. So a chunk starts a new call only if it has both a name and a different id.
    fn position(&self, number: Option<u64>, id: Option<&str>, has_name: bool) -> usize {
        let other =
            |call: &PartialCall| has_name && id.is_some_and(|id| !call.id.is_empty() && call.id != id);
        let last = match number {
            Some(number) => self.by_number.get(&number).copied(),
            None => self.calls.len().checked_sub(1),
        };
        let is_same = |position: &usize| self.calls.get(*position).is_some_and(|call| !other(call));
        last.filter(is_same).unwrap_or(self.calls.len())
    }

    fn start_call(
        &mut self,
        number: Option<u64>,
        id: Option<String>,
        name: Option<String>,
        args: String,
    ) -> ToolCallChunk {
        // A number for which there is always a next one.
        let is_free = |index: &usize| *index <= usize::MAX / 2 && !self.indices.contains(index);
        let own = number.and_then(|number| usize::try_from(number).ok()).filter(is_free);
        let next = || self.indices.last().map_or(0, |last| last.saturating_add(1));
        let index = own.unwrap_or_else(next);
        self.indices.insert(index);
        self.by_number.extend(number.map(|number| (number, self.calls.len())));
        let call = PartialCall { index, id: id.clone().unwrap_or_default(), has_name: name.is_some() };
        self.calls.push(call);
        tool_call_chunk(index, id, name, args)
    }
}

fn tool_call_chunk(index: usize, id: Option<String>, name: Option<String>, args: String) -> ToolCallChunk {
    let mut chunk = ToolCallChunk::new(index, args);
    chunk.id = id;
    chunk.name = name;
    chunk
}

#[cfg(test)]
mod tests;
