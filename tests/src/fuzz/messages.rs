//! Messages in the formats of several providers.

use serde_json::{Value, json};
use superstep::messages::{AnthropicPrompt, Message, MessageUpdate, messages_sanity};

/// A message that was read is written and read back unchanged, and can be sent on.
pub(super) fn read(bytes: &[u8]) {
    let Ok(value) = serde_json::from_slice::<Value>(bytes) else { return };
    let values = match value {
        Value::Array(values) => values,
        value => vec![value],
    };
    let mut messages = Vec::new();
    for value in values {
        if let Err(error) = serde_json::from_value::<MessageUpdate>(value.clone()) {
            assert!(!error.to_string().is_empty());
        }
        match Message::from_json(value) {
            Err(error) => assert!(!error.to_string().is_empty()),
            Ok(message) => messages.push(message),
        }
    }
    let written = serde_json::to_value(&messages).unwrap();
    let again: Vec<Message> = serde_json::from_value(written.clone()).unwrap();
    assert_eq!(serde_json::to_value(&again).unwrap(), written);
    let _ = AnthropicPrompt::of(&messages);
    let _ = messages_sanity;
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let all = json!([
        "hi",
        {"role": "user", "content": [{"type": "text", "text": "t"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}]},
        {"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{\"a\":1}"}}]},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "tool_use", "id": "c", "name": "f", "input": {}}]},
        {"role": "tool", "tool_call_id": "c", "content": "x", "status": "error"},
        {"type": "ai", "data": {"content": "x", "tool_calls": [{"name": "f", "args": {}, "id": "1"}], "usage_metadata": {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}}},
        {"type": "human", "content": "x", "id": "7"},
        ["system", "be kind"],
        {"type": "remove", "id": "7"}
    ]);
    let each = all.as_array().into_iter().flatten().map(Value::to_string);
    each.chain([all.to_string()]).map(String::into_bytes).collect()
}
