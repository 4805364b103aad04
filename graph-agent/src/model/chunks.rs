use std::collections::VecDeque;
use std::mem::take;

use superstep::messages::{AiMessage, MessageChunk, ToolCallChunk};

/// The maximum number of characters in a chunk, similar to a token of a real model.
const CHUNK_CHARS: usize = 4;

/// Splits a reply into chunks as a model would stream it: reasoning, text, the calls interleaved, and last the usage and metadata.
pub(super) fn chunks(reply: &AiMessage) -> VecDeque<MessageChunk> {
    // The parts are taken out of `last` one by one, which leaves usage and metadata.
    let mut last = MessageChunk::from(reply);
    let (reasoning, text) = (take(&mut last.reasoning), take(&mut last.text));
    let calls = take(&mut last.calls);
    let id = last.id.clone();
    let chunk = || {
        let mut chunk = MessageChunk::default();
        chunk.id.clone_from(&id);
        chunk
    };
    let reasoning_chunk = |text| {
        let mut chunk = chunk();
        chunk.reasoning = text;
        chunk
    };
    let text_chunk = |text| {
        let mut chunk = chunk();
        chunk.text = text;
        chunk
    };
    let call_chunk = |call| {
        let mut chunk = chunk();
        chunk.calls.push(call);
        chunk
    };

    let mut chunks = VecDeque::new();
    chunks.extend(split(&reasoning).map(reasoning_chunk));
    chunks.extend(split(&text).map(text_chunk));
    // As at real endpoints, the first chunk of a call has its id and name.
    let heads = calls.iter().map(|call| {
        let mut head = call.clone();
        head.args.clear();
        head
    });
    chunks.extend(heads.map(call_chunk));
    let mut args: Vec<_> = calls.iter().map(|call| (call.index, split(&call.args))).collect();
    let mut next_of_each = || -> Vec<ToolCallChunk> {
        let next = args.iter_mut().filter_map(|(index, parts)| Some((*index, parts.next()?)));
        next.map(|(index, args)| ToolCallChunk::new(index, args)).collect()
    };
    loop {
        let next = next_of_each();
        if next.is_empty() {
            break;
        }
        chunks.extend(next.into_iter().map(call_chunk));
    }
    chunks.push_back(last);
    chunks
}

fn split(text: &str) -> impl Iterator<Item = String> {
    let mut chars = text.chars();
    std::iter::from_fn(move || {
        let part: String = chars.by_ref().take(CHUNK_CHARS).collect();
        (!part.is_empty()).then_some(part)
    })
}
