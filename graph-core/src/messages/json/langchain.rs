//! The form of LangChain: `{"type": "human", "content": ..}`.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::messages::{
    AiMessage, Block, HumanMessage, InvalidToolCall, Message, Role, SystemMessage, ToolCall, ToolMessage,
    UnknownRole,
};

use super::{NoMessage, openai};

/// The role that a `type` stands for; chunks of a streamed message count as the message.
pub(super) fn role(kind: &str) -> Result<Role, UnknownRole> {
    match kind {
        "HumanMessageChunk" => Ok(Role::Human),
        "AIMessageChunk" => Ok(Role::Ai),
        "ToolMessageChunk" => Ok(Role::Tool),
        "SystemMessageChunk" => Ok(Role::System),
        kind => kind.parse(),
    }
}

/// Reads a message of this type: its fields, or its fields in `data`. With a content beside it, that is a field like others.
pub(super) fn read(kind: &str, mut message: Map<String, Value>) -> Result<Message, NoMessage> {
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
fn fields_and_calls(role: Role, mut message: Map<String, Value>) -> Result<Message, NoMessage> {
    message.remove("type");
    // A list of calls is the truth, an empty one too.
    let says = |key| message.get(key).is_some_and(|calls: &Value| !calls.is_null());
    let says_calls = says("tool_calls") || says("invalid_tool_calls");
    match fields(role, message)? {
        Message::Ai(message) if !says_calls => Ok(with_other_calls(message)?.into()),
        message => Ok(message),
    }
}

/// Reads what stands in the fields of a message of this role, and nothing else.
pub(super) fn fields(role: Role, message: Map<String, Value>) -> Result<Message, NoMessage> {
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
    read.map_err(|source| NoMessage::Fields { role, source })
}

/// Messages of older versions have their calls in the provider's form alone, and others as blocks of their content.
pub(super) fn with_other_calls(mut message: AiMessage) -> Result<AiMessage, NoMessage> {
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
                message.invalid_tool_calls.push(call.error("the arguments are no object"));
            }
        }
    }
    Ok(message)
}

/// Whether this is how LangChain dumps its objects, not a message that has a field `lc`.
pub(super) fn is_envelope(fields: &Map<String, Value>) -> bool {
    let kind = fields.get("type").and_then(Value::as_str);
    fields.contains_key("lc") && matches!(kind, Some("constructor" | "secret" | "not_implemented"))
}

/// Reads `{"lc": 1, "type": "constructor", "id": [.., "HumanMessage"], "kwargs": {..}}` as data: the type and the fields of what
/// it would construct. Nothing is ever constructed but a message, and envelopes inside of it stay data.
pub(super) fn open(mut envelope: Map<String, Value>) -> Result<(String, Map<String, Value>), NoMessage> {
    let kind = envelope.get("type").and_then(Value::as_str).unwrap_or_default();
    if kind != "constructor" {
        return Err(NoMessage::Unconstructed(kind.to_owned()));
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
        _ => return Err(NoMessage::Envelope(class)),
    };
    match envelope.remove("kwargs") {
        Some(Value::Object(kwargs)) => Ok((kind.to_owned(), kwargs)),
        _ => Err(NoMessage::Envelope(class)),
    }
}
