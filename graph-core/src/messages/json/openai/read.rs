use serde_json::{Map, Value};

use crate::messages::call::{check_depth, read_arguments};
use crate::messages::{AiMessage, InvalidToolCall, Message, Role, ToolCall};

use super::super::{InvalidMessage, langchain};
use super::{ROLE, TYPE};

/// Returns `true` for the fields that a message has in every format.
fn is_field(role: Role, key: &str) -> bool {
    match key {
        "content" | "name" | "id" | "additional_kwargs" | "response_metadata" => true,
        "tool_call_id" | "artifact" | "status" => role == Role::Tool,
        "tool_calls" | "invalid_tool_calls" | "usage_metadata" => role == Role::Ai,
        _ => false,
    }
}

/// Reads a message of this role. Fields that only this format has go into `additional_kwargs`.
pub(in super::super) fn read(name: &str, mut fields: Map<String, Value>) -> Result<Message, InvalidMessage> {
    let role: Role = name.parse()?;
    fields.remove("role");
    let mut additional = match fields.remove("additional_kwargs") {
        Some(Value::Object(additional)) => additional,
        _ => Map::new(),
    };
    let (mut fields, others): (Map<_, _>, Map<_, _>) =
        fields.into_iter().partition(|(key, _)| is_field(role, key));
    additional.extend(others);
    if name == "developer" {
        additional.insert(ROLE.to_owned(), name.into());
    }
    if !additional.is_empty() {
        fields.insert("additional_kwargs".to_owned(), additional.into());
    }
    let called = fields.remove("tool_calls").unwrap_or_default();
    match (langchain::fields(role, fields)?, called) {
        (Message::Ai(message), Value::Null) => Ok(langchain::with_other_calls(message)?.into()),
        (Message::Ai(mut message), Value::Array(called)) => {
            calls(called, &mut message)?;
            Ok(message.into())
        }
        (_, called) if !called.is_null() => Err(InvalidMessage::Calls),
        (message, _) => Ok(message),
    }
}

/// Reads tool calls. Calls with unreadable arguments become invalid calls.
pub(in super::super) fn calls(called: Vec<Value>, message: &mut AiMessage) -> Result<(), InvalidMessage> {
    for call in called {
        let Value::Object(mut call) = call else { return Err(InvalidMessage::Calls) };
        let id = text(call.get("id"));
        if let Some(Value::Object(mut function)) = call.remove("function") {
            let (name, args) = (text(function.get("name")), function.remove("arguments"));
            let rest = rest("function", function, call);
            match arguments(&name, args.unwrap_or_default()) {
                Ok(args) => {
                    let mut read = ToolCall::new(id, name).args(args);
                    read.extra.extend(rest);
                    message.tool_calls.push(read);
                }
                Err((args, error)) => {
                    message
                        .invalid_tool_calls
                        .push(with(rest, InvalidToolCall::new(id, name, args).error(error)));
                }
            }
        } else if let Some(Value::Object(mut custom)) = call.remove("custom") {
            let (name, input) = (text(custom.get("name")), text(custom.remove("input").as_ref()));
            let mut read = with(rest("custom", custom, call), InvalidToolCall::new(id, name, input));
            read.extra.insert(TYPE.to_owned(), "custom".into());
            message.invalid_tool_calls.push(read);
        } else {
            // LangChain's format.
            let read = serde_json::from_value(Value::Object(call)).map_err(|_| InvalidMessage::Calls)?;
            message.tool_calls.push(read);
        }
    }
    Ok(())
}

fn text(value: Option<&Value>) -> String {
    value.and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Parses the arguments of a call to this tool. The error has the original string and a description.
fn arguments(tool: &str, written: Value) -> Result<Map<String, Value>, (String, String)> {
    let written = match written {
        // Some servers send the object itself.
        Value::Object(args) if !tool.is_empty() => {
            return match check_depth(&args) {
                Ok(()) => Ok(args),
                Err(error) => Err((Value::Object(args).to_string(), error)),
            };
        }
        Value::String(written) => written,
        Value::Null => String::new(),
        other => other.to_string(),
    };
    read_arguments(tool, &written).map_err(|error| (written, error))
}

/// Returns the remaining fields of a call, including those inside its `function` or `custom` object.
fn rest(kind: &str, mut inner: Map<String, Value>, mut call: Map<String, Value>) -> Map<String, Value> {
    for key in ["id", "type"] {
        call.remove(key);
    }
    inner.remove("name");
    if !inner.is_empty() {
        call.insert(kind.to_owned(), inner.into());
    }
    call
}

fn with(rest: Map<String, Value>, mut call: InvalidToolCall) -> InvalidToolCall {
    call.extra.extend(rest);
    call
}
