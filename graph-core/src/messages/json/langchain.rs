//! The form of LangChain: `{"type": "human", "content": ..}`.

use serde_json::{Map, Value};

use crate::messages::{AiMessage, HumanMessage, Message, Role, SystemMessage, ToolMessage, UnknownRole};

use super::{NoMessage, fields, openai};

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

/// Reads the fields of a message of this role.
pub(super) fn read(role: Role, mut message: Map<String, Value>) -> Result<Message, NoMessage> {
    message.remove("type");
    match role {
        Role::Human => fields::<HumanMessage>(role, message),
        Role::System => fields::<SystemMessage>(role, message),
        Role::Tool => fields::<ToolMessage>(role, message),
        Role::Ai => match fields::<AiMessage>(role, message)? {
            Message::Ai(message) => Ok(with_calls_of_providers(message).into()),
            other => Ok(other),
        },
    }
}

/// Messages of older versions have their calls in the provider's form alone.
fn with_calls_of_providers(mut message: AiMessage) -> AiMessage {
    if !message.has_calls()
        && let Some(Value::Array(calls)) = message.additional_kwargs.get("tool_calls")
    {
        let calls = calls.clone();
        openai::calls(calls, &mut message);
    }
    message
}

/// Reads `{"lc": 1, "type": "constructor", "id": [.., "HumanMessage"], "kwargs": {..}}`, as data: nothing is constructed but a
/// message.
pub(super) fn envelope(mut envelope: Map<String, Value>) -> Result<Message, NoMessage> {
    let class = envelope.get("id").and_then(Value::as_array).and_then(|path| path.last()?.as_str());
    let class = class.unwrap_or_default().to_owned();
    let role = match class.strip_suffix("Chunk").unwrap_or(&class) {
        "HumanMessage" => Role::Human,
        "AIMessage" => Role::Ai,
        "ToolMessage" => Role::Tool,
        "SystemMessage" => Role::System,
        "RemoveMessage" => return Err(NoMessage::Removal),
        _ => return Err(NoMessage::Envelope(class)),
    };
    let constructs = envelope.get("type").and_then(Value::as_str) == Some("constructor");
    match envelope.remove("kwargs") {
        Some(Value::Object(kwargs)) if constructs => read(role, kwargs),
        _ => Err(NoMessage::Envelope(class)),
    }
}
