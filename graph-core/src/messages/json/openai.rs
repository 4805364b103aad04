//! The form of chat endpoints: `{"role": "user", "content": ..}`.

use serde_json::{Map, Value};

use crate::messages::{AiMessage, InvalidToolCall, Message, Role, ToolCall};

use super::{NoMessage, langchain};

/// What every message may have in this form.
const KNOWN: [&str; 6] = ["content", "name", "id", "tool_calls", "tool_call_id", "additional_kwargs"];

/// Reads a message of this role; what only this form knows is kept in `additional_kwargs`.
pub(super) fn read(name: &str, mut fields: Map<String, Value>) -> Result<Message, NoMessage> {
    let role: Role = name.parse()?;
    fields.remove("role");
    let others: Vec<String> = fields.keys().filter(|key| !KNOWN.contains(&key.as_str())).cloned().collect();
    let mut additional = match fields.remove("additional_kwargs") {
        Some(Value::Object(additional)) => additional,
        _ => Map::new(),
    };
    for key in others {
        if let Some(value) = fields.remove(&key) {
            additional.insert(key, value);
        }
    }
    if name == "developer" {
        additional.insert("__openai_role__".to_owned(), name.into());
    }
    if !additional.is_empty() {
        fields.insert("additional_kwargs".to_owned(), additional.into());
    }
    let called = fields.remove("tool_calls");
    match (langchain::read(role, fields)?, called) {
        (Message::Ai(mut message), Some(Value::Array(called))) => {
            calls(called, &mut message);
            Ok(message.into())
        }
        (message, _) => Ok(message),
    }
}

/// Reads calls of tools, those with unreadable arguments as invalid ones.
pub(super) fn calls(called: Vec<Value>, message: &mut AiMessage) {
    for call in called {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
        let function = call.get("function");
        let id = text(call.get("id"));
        let name = text(function.and_then(|function| function.get("name")));
        let args = function.and_then(|function| function.get("arguments"));
        match args {
            // Some servers write the object itself.
            Some(Value::Object(args)) => {
                message.tool_calls.push(ToolCall::new(id, name).args(args.clone()));
            }
            args => {
                let written = text(args);
                let read =
                    if written.trim().is_empty() { Ok(Map::new()) } else { serde_json::from_str(&written) };
                match read {
                    Ok(args) => message.tool_calls.push(ToolCall::new(id, name).args(args)),
                    Err(error) => {
                        let call = InvalidToolCall::new(id, name, written).error(error.to_string());
                        message.invalid_tool_calls.push(call);
                    }
                }
            }
        }
    }
}
