use std::collections::VecDeque;
use std::mem::take;

use superstep::messages::{AiMessage, Block, BlockChunk, MessageChunk, ToolCallChunk};

/// The maximum number of characters in a chunk, similar to a token of a real model.
const CHUNK_CHARS: usize = 4;

/// Splits a reply into chunks as a model would stream it: the content, the calls interleaved, and last the usage and metadata.
pub(super) fn chunks(reply: &AiMessage) -> VecDeque<MessageChunk> {
    // The parts are taken out of `last` one by one, which leaves usage and metadata.
    let mut last = MessageChunk::from(reply);
    let (blocks, text) = (take(&mut last.blocks), take(&mut last.text));
    last.reasoning.clear();
    let calls = take(&mut last.calls);
    let id = last.id.clone();
    let with_id = |mut chunk: MessageChunk| {
        chunk.id.clone_from(&id);
        chunk
    };
    let call_chunk = |call| {
        let mut chunk = MessageChunk::default();
        chunk.calls.push(call);
        with_id(chunk)
    };

    let mut chunks = VecDeque::new();
    if blocks.is_empty() {
        chunks.extend(split(&text).map(MessageChunk::text).map(with_id));
    }
    let pieces = blocks.into_iter().flat_map(|BlockChunk { index, block, .. }| {
        pieces(block).into_iter().map(move |piece| BlockChunk::new(index, piece))
    });
    chunks.extend(pieces.map(|piece| with_id(MessageChunk::blocks([piece]))));
    // As at real endpoints, the first chunk of a call has everything but its arguments.
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

/// Splits the text of a block. Its last piece has everything else, such as the signature.
fn pieces(mut block: Block) -> Vec<Block> {
    let text = match &mut block {
        Block::Text(block) => take(&mut block.text),
        Block::Reasoning(block) => take(&mut block.text),
        _ => return vec![block],
    };
    let piece = |text: String| {
        let mut piece = block.clone();
        match &mut piece {
            Block::Text(piece) => (piece.text, piece.extra) = (text, Default::default()),
            Block::Reasoning(piece) => {
                (piece.text, piece.signature, piece.extra) = (text, None, Default::default());
            }
            _ => {}
        }
        piece
    };
    let mut pieces: Vec<Block> = split(&text).map(piece).collect();
    pieces.push(block);
    pieces
}

fn split(text: &str) -> impl Iterator<Item = String> {
    let mut chars = text.chars();
    std::iter::from_fn(move || {
        let part: String = chars.by_ref().take(CHUNK_CHARS).collect();
        (!part.is_empty()).then_some(part)
    })
}
