use serde_json::{Map, Value};
use superstep::messages::{AiMessage, Block, Content, Message};

use super::failure::InvalidReply;
use super::{metadata, usage};

/// The fields in which providers send a model's reasoning.
pub(super) const REASONING_KEYS: [&str; 2] = ["reasoning_content", "reasoning"];

/// Reads a complete reply.
pub(super) fn read(mut reply: Map<String, Value>) -> Result<AiMessage, InvalidReply> {
    let mut choice = first_choice(&mut reply).ok_or(InvalidReply::NoChoice)?;
    let Some(Value::Object(mut message)) = choice.remove("message") else {
        return Err(InvalidReply::NoMessage);
    };
    let reasoning = take_reasoning(&mut message);
    message.retain(|_, value| !is_empty(value));
    if let Some(Value::Array(parts)) = message.get_mut("content") {
        parts.iter_mut().for_each(|part| *part = joined_thinking(part.take()));
    }
    if let Some(Value::Array(calls)) = message.get_mut("tool_calls") {
        calls.iter_mut().filter_map(Value::as_object_mut).for_each(drop_place);
    }
    // Ids of some providers are not unique, and a message replaces the one with the same id.
    message.remove("id");
    message.insert("role".to_owned(), "assistant".into());
    let message = Message::from_json(Value::Object(message)).map_err(|_| InvalidReply::UnreadableMessage)?;
    let mut message = match message {
        Message::Ai(message) => message,
        _ => return Err(InvalidReply::NoMessage),
    };
    if !reasoning.is_empty() {
        message.content = with_reasoning(reasoning, message.content);
    }
    message.usage = reply.get("usage").and_then(usage::read);
    message.response_metadata = metadata::read(reply, choice);
    Ok(message)
}

/// Takes the first choice out of a reply or a chunk.
pub(super) fn first_choice(reply: &mut Map<String, Value>) -> Option<Map<String, Value>> {
    let Some(Value::Array(choices)) = reply.remove("choices") else { return None };
    let first = |choice: &Value| choice.get("index").and_then(Value::as_u64).unwrap_or_default() == 0;
    match choices.into_iter().find(first)? {
        Value::Object(choice) => Some(choice),
        _ => None,
    }
}

/// Takes the reasoning out of a message. Some providers send it in both fields.
pub(super) fn take_reasoning(message: &mut Map<String, Value>) -> String {
    let mut reasoning = String::new();
    for key in REASONING_KEYS {
        if let Some(Value::String(text)) = message.get_mut(key) {
            let text = std::mem::take(text);
            message.remove(key);
            if reasoning.is_empty() {
                reasoning = text;
            }
        }
    }
    reasoning
}

pub(super) fn is_empty(value: &Value) -> bool {
    value.is_null() || value.as_array().is_some_and(Vec::is_empty)
}

/// Removes the fields of a call that depend on how it is sent: its place in the reply, and missing values.
fn drop_place(call: &mut Map<String, Value>) {
    call.remove("index");
    call.retain(|_, value| !value.is_null());
}

/// Returns the fields of a streamed call that are not read elsewhere, such as a signature, in the form of a complete call.
pub(super) fn other_fields(
    kind: &str,
    mut function: Map<String, Value>,
    mut call: Map<String, Value>,
) -> Map<String, Value> {
    drop_place(&mut call);
    for key in ["id", "type"] {
        call.remove(key);
    }
    function.remove("name");
    if !function.is_empty() {
        call.insert(kind.to_owned(), function.into());
    }
    call
}

/// Joins thinking that a provider sends as a list of parts.
pub(super) fn joined_thinking(mut part: Value) -> Value {
    let text = |part: &Value| match part.as_object() {
        Some(part) if part.len() == 2 && part.get("type").is_some_and(|kind| kind == "text") => {
            part.get("text")?.as_str().map(str::to_owned)
        }
        _ => None,
    };
    let is_thinking = part.get("type").is_some_and(|kind| kind == "thinking");
    if let Some(thinking) = part.get_mut("thinking").filter(|_| is_thinking)
        && let Some(texts) =
            thinking.as_array().and_then(|parts| parts.iter().map(text).collect::<Option<String>>())
    {
        *thinking = texts.into();
    }
    part
}

fn with_reasoning(reasoning: String, content: Content) -> Content {
    let mut blocks = vec![Block::reasoning(reasoning)];
    match content {
        Content::Text(text) if text.is_empty() => {}
        Content::Text(text) => blocks.push(Block::from_text(text)),
        Content::Blocks(others) => blocks.extend(others),
    }
    Content::Blocks(blocks)
}

#[cfg(test)]
mod tests;
