use serde_json::{Map, Value, json};

use crate::messages::{AiMessage, InvalidToolCall, Message, Role, ToolCall};

use super::content::content;
use super::{ROLE, TYPE};

impl Message {
    /// Returns the message in the format of chat endpoints, for a request to one.
    ///
    /// A message that was read in this format keeps its provider fields (in `additional_kwargs`), its kinds of content
    /// and the role `developer`. Left out are ids and metadata of messages, artifacts, and reasoning and calls in
    /// content blocks. Images become `image_url` parts; base64 data becomes a `data:` URL. Calls with unreadable
    /// arguments are sent as the model wrote them.
    ///
    /// ```
    /// use superstep::messages::{AiMessage, Message, ToolCall};
    /// use serde_json::json;
    ///
    /// let history = [
    ///     Message::human("what time is it?"),
    ///     AiMessage::new("").call(ToolCall::new("call_1", "clock")).into(),
    ///     Message::tool("call_1", "12:00"),
    /// ];
    /// let sent: Vec<_> = history.iter().map(Message::to_openai).collect();
    /// assert_eq!(sent[0], json!({"role": "user", "content": "what time is it?"}));
    /// assert_eq!(sent[1]["tool_calls"][0]["function"], json!({"name": "clock", "arguments": "{}"}));
    /// assert_eq!(sent[2], json!({"role": "tool", "tool_call_id": "call_1", "content": "12:00"}));
    /// ```
    pub fn to_openai(&self) -> Value {
        let mut sent = Map::new();
        sent.insert("role".to_owned(), role(self).into());
        sent.insert("content".to_owned(), content(self.content()));
        if let Some(name) = self.name() {
            sent.insert("name".to_owned(), name.into());
        }
        match self {
            Self::Ai(message) => {
                let calls = calls(message);
                if !calls.is_empty() {
                    sent.insert("tool_calls".to_owned(), calls.into());
                }
            }
            Self::Tool(message) => {
                sent.insert("tool_call_id".to_owned(), message.tool_call_id.as_str().into());
            }
            Self::Human(_) | Self::System(_) => {}
        }
        for (key, value) in self.additional_kwargs() {
            // Skips LangChain's own fields, and the copy of the calls that its older versions keep.
            if !key.starts_with("__") && key != "tool_calls" && !sent.contains_key(key) {
                sent.insert(key.clone(), value.clone());
            }
        }
        // Endpoints require content, except in a reply with only calls, a refusal or audio.
        let says_other = ["tool_calls", "function_call", "refusal", "audio"]
            .iter()
            .any(|key| sent.get(*key).is_some_and(|value| !value.is_null()));
        if self.role() == Role::Ai && says_other && sent.get("content") == Some(&json!("")) {
            sent.insert("content".to_owned(), Value::Null);
        }
        Value::Object(sent)
    }
}

fn role(message: &Message) -> &str {
    let stored = match message {
        Message::System(message) => message.additional_kwargs.get(ROLE).and_then(Value::as_str),
        _ => None,
    };
    stored.unwrap_or(message.role().chat_name())
}

fn calls(message: &AiMessage) -> Vec<Value> {
    let calls = message.tool_calls.iter().map(call);
    calls.chain(message.invalid_tool_calls.iter().map(invalid_call)).collect()
}

fn call(call: &ToolCall) -> Value {
    let ToolCall { id, name, args, extra } = call;
    let arguments = Value::String(Value::Object(args.clone()).to_string());
    of_kind("function", id, [("name", name.as_str().into()), ("arguments", arguments)], extra)
}

fn invalid_call(call: &InvalidToolCall) -> Value {
    let InvalidToolCall { id, name, args, extra, .. } = call;
    let (kind, written) = match extra.get(TYPE).and_then(Value::as_str) {
        Some("custom") => ("custom", "input"),
        _ => ("function", "arguments"),
    };
    of_kind(kind, id, [("name", name.as_str().into()), (written, args.as_str().into())], extra)
}

fn of_kind(kind: &str, id: &str, inner: [(&str, Value); 2], extra: &Map<String, Value>) -> Value {
    let mut called = extra.get(kind).and_then(Value::as_object).cloned().unwrap_or_default();
    called.extend(inner.map(|(key, value)| (key.to_owned(), value)));
    // Skips LangChain's own fields.
    let own = |key: &str| key.starts_with("__") || matches!(key, "type" | "extras") || key == kind;
    let mut call: Map<_, _> =
        extra.iter().filter(|(key, _)| !own(key)).map(|(key, value)| (key.clone(), value.clone())).collect();
    call.extend([
        ("id".to_owned(), id.into()),
        ("type".to_owned(), kind.into()),
        (kind.to_owned(), called.into()),
    ]);
    Value::Object(call)
}
