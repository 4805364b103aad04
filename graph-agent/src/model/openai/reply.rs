use serde_json::{Map, Value};
use superstep::messages::{AiMessage, Block, Content, Message};

use super::failure::Fault;
use super::{metadata, usage};

/// Where providers put what a model has thought.
pub(super) const THOUGHTS: [&str; 2] = ["reasoning_content", "reasoning"];

/// Reads a whole reply.
pub(super) fn read(mut reply: Map<String, Value>) -> Result<AiMessage, Fault> {
    let mut choice = first_choice(&mut reply).ok_or(Fault::NoChoice)?;
    let Some(Value::Object(mut message)) = choice.remove("message") else { return Err(Fault::NoMessage) };
    let thought = thought(&mut message);
    message.retain(|_, value| !says_nothing(value));
    // Not every provider's ids differ, and a message with the id of another would take its place.
    message.remove("id");
    message.insert("role".to_owned(), "assistant".into());
    let mut message = match Message::from_json(Value::Object(message)).map_err(|_| Fault::Message)? {
        Message::Ai(message) => message,
        _ => return Err(Fault::NoMessage),
    };
    if !thought.is_empty() {
        message.content = behind(thought, message.content);
    }
    message.usage = reply.get("usage").and_then(usage::read);
    message.response_metadata = metadata::read(reply, choice);
    Ok(message)
}

/// The choice of a reply, or of a piece of one.
pub(super) fn first_choice(reply: &mut Map<String, Value>) -> Option<Map<String, Value>> {
    let Some(Value::Array(choices)) = reply.remove("choices") else { return None };
    let first = |choice: &Value| choice.get("index").and_then(Value::as_u64).unwrap_or_default() == 0;
    match choices.into_iter().find(first)? {
        Value::Object(choice) => Some(choice),
        _ => None,
    }
}

/// Takes out what the model has thought, which some providers say twice.
pub(super) fn thought(message: &mut Map<String, Value>) -> String {
    let mut thought = String::new();
    for key in THOUGHTS {
        if let Some(Value::String(text)) = message.get_mut(key) {
            let text = std::mem::take(text);
            message.remove(key);
            if thought.is_empty() {
                thought = text;
            }
        }
    }
    thought
}

fn says_nothing(value: &Value) -> bool {
    value.is_null() || value.as_array().is_some_and(Vec::is_empty)
}

fn behind(thought: String, content: Content) -> Content {
    let mut blocks = vec![Block::reasoning(thought)];
    match content {
        Content::Text(text) if text.is_empty() => {}
        Content::Text(text) => blocks.push(Block::from_text(text)),
        Content::Blocks(said) => blocks.extend(said),
    }
    Content::Blocks(blocks)
}

#[cfg(test)]
mod tests;
