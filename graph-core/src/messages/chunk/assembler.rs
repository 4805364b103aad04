use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::messages::call::read_arguments;
use crate::messages::{AiMessage, Block, Content, InvalidToolCall, ToolCall};

use super::merge::{self, Strings};
use super::message_chunk::INVALID;
use super::{BlockChunk, MessageChunk, ToolCallChunk};

/// Assembles a reply from its pieces.
///
/// The result is the message that the model would have returned as a whole.
///
/// ```
/// use superstep::messages::{MessageAssembler, MessageChunk};
///
/// let mut reply = MessageAssembler::default();
/// reply.push(&MessageChunk::text("Good "));
/// reply.push(&MessageChunk::text("morning."));
/// assert_eq!(reply.finish().content, "Good morning.");
/// ```
///
/// Text and reasoning without a block come before the blocks. A reply of nothing but such text has a string as its content.
#[derive(Clone, Debug, Default)]
pub struct MessageAssembler {
    /// Its text and reasoning are those outside blocks.
    whole: MessageChunk,
    /// The position of the last block of each index.
    blocks: BTreeMap<usize, usize>,
    /// The position of the last call of each index.
    calls: BTreeMap<usize, usize>,
}

impl MessageAssembler {
    /// Adds the next piece.
    pub fn push(&mut self, chunk: &MessageChunk) {
        let whole = &mut self.whole;
        for (whole, piece) in [(&mut whole.id, &chunk.id), (&mut whole.name, &chunk.name)] {
            if whole.is_none() {
                whole.clone_from(piece);
            }
        }
        if chunk.blocks.is_empty() {
            whole.text.push_str(&chunk.text);
            whole.reasoning.push_str(&chunk.reasoning);
        }
        for piece in &chunk.blocks {
            let same = self.blocks.get(&piece.index).and_then(|position| whole.blocks.get_mut(*position));
            if !same.is_some_and(|whole| merge::block(&mut whole.block, &piece.block)) {
                self.blocks.insert(piece.index, whole.blocks.len());
                whole.blocks.push(piece.clone());
            }
        }
        for piece in &chunk.calls {
            push_call(&mut whole.calls, &mut self.calls, piece);
        }
        if let Some(usage) = &chunk.usage {
            whole.usage = Some(usage.clone());
        }
        merge::fields(&mut whole.additional_kwargs, &chunk.additional_kwargs, Strings::Append);
        merge::fields(&mut whole.response_metadata, &chunk.response_metadata, Strings::Replace);
        merge::fields(&mut whole.extra, &chunk.extra, Strings::Replace);
    }

    /// Returns the reply. Calls whose arguments are not a JSON object become invalid calls.
    pub fn finish(self) -> AiMessage {
        let MessageChunk {
            id,
            name,
            text,
            reasoning,
            mut blocks,
            mut calls,
            usage,
            additional_kwargs,
            response_metadata,
            extra,
        } = self.whole;
        let mut message = AiMessage::new("");
        (message.id, message.name, message.usage) = (id, name, usage);
        (message.additional_kwargs, message.response_metadata, message.extra) =
            (additional_kwargs, response_metadata, extra);
        // Pieces of different calls and blocks may arrive out of order.
        calls.sort_by_key(|call| call.index);
        blocks.sort_by_key(|block| block.index);
        for call in calls {
            finish_call(call, &mut message);
        }
        message.content = if blocks.is_empty() && reasoning.is_empty() {
            Content::Text(text)
        } else {
            let reasoning = (!reasoning.is_empty()).then(|| Block::reasoning(reasoning));
            let text = (!text.is_empty()).then(|| Block::from_text(text));
            let blocks = finish_blocks(blocks, &message);
            Content::Blocks(reasoning.into_iter().chain(text).chain(blocks).collect())
        };
        message
    }
}

fn push_call(calls: &mut Vec<ToolCallChunk>, positions: &mut BTreeMap<usize, usize>, piece: &ToolCallChunk) {
    // Some servers give all calls the same index.
    let other = |call: &ToolCallChunk| match (&call.id, &piece.id) {
        (Some(id), Some(new)) => !id.is_empty() && !new.is_empty() && id != new,
        _ => false,
    };
    match positions.get(&piece.index).and_then(|position| calls.get_mut(*position)) {
        Some(call) if !other(call) => {
            // Some servers repeat id and name in every piece, others send them empty.
            for (whole, piece) in [(&mut call.id, &piece.id), (&mut call.name, &piece.name)] {
                if whole.as_ref().is_none_or(String::is_empty) {
                    whole.clone_from(piece);
                }
            }
            call.args.push_str(&piece.args);
            if piece.error.is_some() {
                call.error.clone_from(&piece.error);
            }
            merge::fields(&mut call.extra, &piece.extra, Strings::Replace);
        }
        _ => {
            positions.insert(piece.index, calls.len());
            calls.push(piece.clone());
        }
    }
}

/// Adds a call to the valid or the invalid calls of a message.
fn finish_call(call: ToolCallChunk, message: &mut AiMessage) {
    let ToolCallChunk { id, name, args, error, extra, .. } = call;
    let (id, name) = (id.unwrap_or_default(), name.unwrap_or_default());
    let is_invalid = error.is_some() || extra.get("type").is_some_and(|kind| kind == INVALID);
    let read = if is_invalid { Err(error) } else { read_arguments(&name, &args).map_err(Some) };
    match read {
        Ok(args) => {
            let mut call = ToolCall::new(id, name).args(args);
            call.extra.extend(extra);
            message.tool_calls.push(call);
        }
        Err(error) => {
            let mut call = InvalidToolCall::new(id, name, args);
            call.error = error;
            call.extra.extend(extra);
            message.invalid_tool_calls.push(call);
        }
    }
}

/// Returns the blocks. A tool call without an input gets the arguments of the message's call with its id.
fn finish_blocks(blocks: Vec<BlockChunk>, message: &AiMessage) -> Vec<Block> {
    let calls = || {
        let valid = message.tool_calls.iter();
        let valid = valid.map(|call| (call.id.as_str(), Value::Object(call.args.clone())));
        let invalid = message.invalid_tool_calls.iter();
        valid.chain(invalid.map(|call| (call.id.as_str(), call.args.as_str().into())))
    };
    let has_open_call =
        |piece: &BlockChunk| matches!(&piece.block, Block::ToolUse(block) if block.input.is_null());
    let mut inputs: BTreeMap<&str, Value> =
        if blocks.iter().any(has_open_call) { calls().collect() } else { BTreeMap::new() };
    let finish = |BlockChunk { mut block, .. }: BlockChunk| {
        if let Block::ToolUse(block) = &mut block
            && block.input.is_null()
        {
            block.input = inputs.remove(block.id.as_str()).unwrap_or_else(|| Map::new().into());
        }
        block
    };
    blocks.into_iter().map(finish).collect()
}
