use std::collections::VecDeque;
use std::mem::take;

use superstep::messages::{AiMessage, MessageChunk, ToolCallChunk};

/// How many letters a piece has at most. A real model's have about as many.
const LETTERS: usize = 4;

/// Takes a reply apart as a model would write it: thoughts, text, the calls in turns, and at last what it has cost.
pub(super) fn pieces(reply: &AiMessage) -> VecDeque<MessageChunk> {
    // What is left of it at the end is what the reply has cost, and what else is said of it.
    let mut last = MessageChunk::from(reply);
    let (thought, text) = (take(&mut last.reasoning), take(&mut last.text));
    let called = take(&mut last.calls);
    let id = last.id.clone();
    let piece = || {
        let mut piece = MessageChunk::default();
        piece.id.clone_from(&id);
        piece
    };
    let of_thought = |text| {
        let mut piece = piece();
        piece.reasoning = text;
        piece
    };
    let of_text = |text| {
        let mut piece = piece();
        piece.text = text;
        piece
    };
    let of_call = |call| {
        let mut piece = piece();
        piece.calls.push(call);
        piece
    };

    let mut pieces = VecDeque::new();
    pieces.extend(letters(&thought).map(of_thought));
    pieces.extend(letters(&text).map(of_text));
    // The first piece of a call says which it is, as endpoints do it.
    let begun = called.iter().map(|call| ToolCallChunk { args: String::new(), ..call.clone() });
    pieces.extend(begun.map(of_call));
    let mut calls: Vec<_> = called.iter().map(|call| (call.index, letters(&call.args))).collect();
    let mut turn = || -> Vec<ToolCallChunk> {
        let next = calls.iter_mut().filter_map(|(index, letters)| Some((*index, letters.next()?)));
        next.map(|(index, args)| ToolCallChunk { index, args, ..ToolCallChunk::default() }).collect()
    };
    loop {
        let calls = turn();
        if calls.is_empty() {
            break;
        }
        pieces.extend(calls.into_iter().map(of_call));
    }
    pieces.push_back(last);
    pieces
}

fn letters(text: &str) -> impl Iterator<Item = String> {
    let mut letters = text.chars();
    std::iter::from_fn(move || {
        let piece: String = letters.by_ref().take(LETTERS).collect();
        (!piece.is_empty()).then_some(piece)
    })
}
