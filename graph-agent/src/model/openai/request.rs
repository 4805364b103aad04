use serde_json::{Map, Value, json};
use superstep::messages::Message;

use crate::model::request::{ChatRequest, ToolChoice, ToolSpec};

/// Returns the body of a request.
///
/// # Errors
/// The reason why the request is invalid.
pub(super) fn body(
    model: &str,
    request: &ChatRequest,
    max_tokens: &str,
    streamed: bool,
) -> Result<Value, String> {
    let mut body = Map::new();
    let mut put = |key: &str, value: Value| body.insert(key.to_owned(), value);
    put("model", model.into());
    put("messages", request.messages.iter().map(Message::to_openai).collect());
    if !request.tools.is_empty() {
        put("tools", request.tools.iter().map(tool).collect());
    }
    if let Some(choice) = tool_choice(request)? {
        put("tool_choice", choice);
    }
    if let Some(answer) = &request.response_schema {
        let schema = json!({"name": answer.name, "schema": answer.schema});
        put("response_format", json!({"type": "json_schema", "json_schema": schema}));
    }
    if let Some(temperature) = request.temperature {
        if !temperature.is_finite() {
            return Err(format!("the temperature is {temperature}, but must be finite"));
        }
        put("temperature", temperature.into());
    }
    if let Some(tokens) = request.max_tokens {
        put(max_tokens, tokens.into());
    }
    if streamed {
        put("stream_options", json!({"include_usage": true}));
    }
    for (key, value) in &request.extra {
        if value.is_null() {
            body.remove(key);
        } else {
            body.insert(key.clone(), value.clone());
        }
    }
    // After `extra`, since the caller of this function decides how the reply is read.
    body.insert("stream".to_owned(), streamed.into());
    Ok(Value::Object(body))
}

fn tool(tool: &ToolSpec) -> Value {
    let ToolSpec { name, description, parameters } = tool;
    json!({"type": "function", "function": {"name": name, "description": description, "parameters": parameters}})
}

/// Returns the tool choice. Endpoints reject a choice without tools.
fn tool_choice(request: &ChatRequest) -> Result<Option<Value>, String> {
    let none = request.tools.is_empty();
    match &request.tool_choice {
        ToolChoice::Auto => Ok(None),
        ToolChoice::None => Ok((!none).then(|| "none".into())),
        ToolChoice::Required if none => {
            Err("the tool choice is `Required`, but the request offers no tools".to_owned())
        }
        ToolChoice::Required => Ok(Some("required".into())),
        ToolChoice::Tool(name) if request.tools.iter().all(|tool| tool.name != *name) => {
            Err(format!("the tool choice is `{name}`, but the request does not offer this tool"))
        }
        ToolChoice::Tool(name) => Ok(Some(json!({"type": "function", "function": {"name": name}}))),
    }
}

#[cfg(test)]
mod tests;
