//! Merges the pieces of blocks and of JSON objects.

use serde_json::{Map, Value};

use crate::messages::Block;

/// The treatment of a string that is already there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Strings {
    /// The new string is appended, unless it is an [identifier](is_identifier).
    Append,
    Replace,
}

/// Returns `true` for strings that providers repeat in each piece.
fn is_identifier(key: &str) -> bool {
    matches!(key, "id" | "type" | "format" | "role")
}

/// Merges the fields of a piece: lists are extended, objects merged, and other values replaced, except appended strings.
pub(super) fn fields(whole: &mut Map<String, Value>, piece: &Map<String, Value>, strings: Strings) {
    for (key, new) in piece {
        match (whole.get_mut(key), new) {
            (Some(Value::Object(old)), Value::Object(new)) => fields(old, new, strings),
            (Some(Value::Array(old)), Value::Array(new)) => list(old, new, strings),
            (Some(Value::String(old)), Value::String(new))
                if strings == Strings::Append && !is_identifier(key) =>
            {
                old.push_str(new);
            }
            (_, new) => {
                whole.insert(key.clone(), new.clone());
            }
        }
    }
}

/// The number of elements at the end of a list that may still grow. A limit keeps the cost of a long list linear.
const MAX_GROWING: usize = 64;

/// Extends a list. An element with the `index` and `type` of one of the last elements is a piece of it.
fn list(whole: &mut Vec<Value>, piece: &[Value], strings: Strings) {
    for new in piece {
        let old = match (strings, new.get("index")) {
            (Strings::Append, Some(index)) => whole
                .iter_mut()
                .rev()
                .take(MAX_GROWING)
                .find(|old| old.get("index") == Some(index) && old.get("type") == new.get("type")),
            _ => None,
        };
        match (old, new) {
            (Some(Value::Object(old)), Value::Object(new)) => fields(old, new, strings),
            (_, new) => whole.push(new.clone()),
        }
    }
}

/// Appends a piece to a block. Returns `false` if the piece is of another kind.
pub(super) fn block(whole: &mut Block, piece: &Block) -> bool {
    let (extra, new) = match (whole, piece) {
        (Block::Text(whole), Block::Text(piece)) => {
            whole.text.push_str(&piece.text);
            (&mut whole.extra, &piece.extra)
        }
        (Block::Reasoning(whole), Block::Reasoning(piece)) => {
            whole.text.push_str(&piece.text);
            if let Some(signature) = &piece.signature {
                whole.signature.get_or_insert_default().push_str(signature);
            }
            (&mut whole.extra, &piece.extra)
        }
        (Block::ToolUse(whole), Block::ToolUse(piece)) => {
            for (whole, piece) in [(&mut whole.id, &piece.id), (&mut whole.name, &piece.name)] {
                if whole.is_empty() {
                    whole.clone_from(piece);
                }
            }
            if !piece.input.is_null() {
                whole.input.clone_from(&piece.input);
            }
            (&mut whole.extra, &piece.extra)
        }
        (Block::Other(whole), Block::Other(piece)) if whole.get("type") == piece.get("type") => {
            (whole, piece)
        }
        _ => return false,
    };
    fields(extra, new, Strings::Replace);
    true
}
