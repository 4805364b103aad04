//! Reads LangChain's format: `{"type": "human", "content": ..}`.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::messages::{
    AiMessage, Block, HumanMessage, InvalidToolCall, Message, Role, SystemMessage, ToolCall, ToolMessage,
    UnknownRole,
};

use super::{InvalidMessage, openai};

/// Returns the role for a `type`. A chunk counts as a message.
pub(super) fn role(kind: &str) -> Result<Role, UnknownRole> {
    match kind {
        "HumanMessageChunk" => Ok(Role::Human),
        "AIMessageChunk" => Ok(Role::Ai),
        "ToolMessageChunk" => Ok(Role::Tool),
        "SystemMessageChunk" => Ok(Role::System),
        kind => kind.parse(),
    }
}

/// Reads a message of this type. Its fields may be in `data`, unless there is a `content` beside it.
pub(super) fn read(kind: &str, mut message: Map<String, Value>) -> Result<Message, InvalidMessage> {
    if !message.contains_key("content")
        && let Some(Value::Object(data)) = message.get_mut("data")
    {
        message = std::mem::take(data);
    }
    let role = match (kind, message.get("role").and_then(Value::as_str)) {
        ("chat" | "ChatMessageChunk", Some(role)) => {
            let role = role.parse()?;
            message.remove("role");
            role
        }
        (kind, _) => role(kind)?,
    };
    fields_and_calls(role, message)
}

/// Reads the fields of a message of this role.
fn fields_and_calls(role: Role, mut message: Map<String, Value>) -> Result<Message, InvalidMessage> {
    message.remove("type");
    // A list of calls takes precedence, even an empty one.
    let has = |key| message.get(key).is_some_and(|calls: &Value| !calls.is_null());
    let has_list = has("tool_calls") || has("invalid_tool_calls");
    match fields(role, message)? {
        Message::Ai(message) if !has_list => Ok(with_other_calls(message)?.into()),
        message => Ok(message),
    }
}

/// Reads only the fields of a message of this role.
pub(super) fn fields(role: Role, message: Map<String, Value>) -> Result<Message, InvalidMessage> {
    fn read<T: DeserializeOwned + Into<Message>>(message: Value) -> serde_json::Result<Message> {
        serde_json::from_value::<T>(message).map(Into::into)
    }
    let message = Value::Object(message);
    let read = match role {
        Role::Human => read::<HumanMessage>(message),
        Role::Ai => read::<AiMessage>(message),
        Role::Tool => read::<ToolMessage>(message),
        Role::System => read::<SystemMessage>(message),
    };
    read.map_err(|source| InvalidMessage::Fields { role, source })
}

/// Older versions keep calls only in a provider's format, or as content blocks.
pub(super) fn with_other_calls(mut message: AiMessage) -> Result<AiMessage, InvalidMessage> {
    if let Some(Value::Array(calls)) = message.additional_kwargs.get("tool_calls") {
        let calls = calls.clone();
        openai::calls(calls, &mut message)?;
    }
    if message.has_calls() {
        return Ok(message);
    }
    for block in message.content.blocks() {
        let Block::ToolUse(block) = block else { continue };
        match &block.input {
            Value::Object(args) => {
                message.tool_calls.push(ToolCall::new(&block.id, &block.name).args(args.clone()));
            }
            input => {
                let call = InvalidToolCall::new(&block.id, &block.name, input.to_string());
                message.invalid_tool_calls.push(call.error("the arguments are not an object"));
            }
        }
    }
    Ok(message)
}

/// Returns `true` if this is a dump of a LangChain object, not a message with a field `lc`.
pub(super) fn is_envelope(fields: &Map<String, Value>) -> bool {
    let kind = fields.get("type").and_then(Value::as_str);
    fields.contains_key("lc") && matches!(kind, Some("constructor" | "secret" | "not_implemented"))
}

/// Reads `{"lc": 1, "type": "constructor", "id": [.., "HumanMessage"], "kwargs": {..}}` as data: its type and its
/// fields. Only messages are constructed; envelopes inside them stay data.
pub(super) fn open(mut envelope: Map<String, Value>) -> Result<(String, Map<String, Value>), InvalidMessage> {
    let kind = envelope.get("type").and_then(Value::as_str).unwrap_or_default();
    if kind != "constructor" {
        return Err(InvalidMessage::Unconstructed(kind.to_owned()));
    }
    let class = envelope.get("id").and_then(Value::as_array).and_then(|path| path.last()?.as_str());
    let class = class.unwrap_or_default().to_owned();
    let kind = match class.strip_suffix("Chunk").unwrap_or(&class) {
        "HumanMessage" => "human",
        "AIMessage" => "ai",
        "ToolMessage" => "tool",
        "SystemMessage" => "system",
        "ChatMessage" => "chat",
        "RemoveMessage" => "remove",
        _ => return Err(InvalidMessage::Envelope(class)),
    };
    match envelope.remove("kwargs") {
        Some(Value::Object(kwargs)) => Ok((kind.to_owned(), kwargs)),
        _ => Err(InvalidMessage::Envelope(class)),
    }
}
