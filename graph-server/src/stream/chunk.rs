use serde_json::{Value, json};

/// Converts a chunk of a message to an `AIMessageChunk`.
pub(super) fn ai_chunk(chunk: &Value, id: &str) -> Value {
    let field = |name: &str| chunk.get(name).cloned();
    let calls = chunk.get("tool_call_chunks").and_then(Value::as_array).into_iter().flatten().map(|call| {
        json!({
            "name": call.get("name"), "args": call.get("args"), "id": call.get("id"), "index": call.get("index"),
            "type": "tool_call_chunk",
        })
    });
    json!({
        "content": content(chunk),
        "additional_kwargs": field("additional_kwargs").unwrap_or_else(|| json!({})),
        "response_metadata": field("response_metadata").unwrap_or_else(|| json!({})),
        "type": "AIMessageChunk",
        "name": field("name"),
        "id": id,
        "tool_calls": [],
        "invalid_tool_calls": [],
        "usage_metadata": field("usage_metadata"),
        "tool_call_chunks": Value::Array(calls.collect()),
        "chunk_position": null,
    })
}

/// Returns the empty chunk that ends a message.
pub(super) fn last_chunk(id: &str) -> Value {
    let mut chunk = ai_chunk(&json!({}), id);
    if let Some(position) = chunk.get_mut("chunk_position") {
        *position = "last".into();
    }
    chunk
}

/// The content: text, or a list of blocks if the model sends blocks or its reasoning.
fn content(chunk: &Value) -> Value {
    let text = chunk.get("content").and_then(Value::as_str).unwrap_or_default();
    if let Some(blocks) = chunk.get("blocks").and_then(Value::as_array).filter(|blocks| !blocks.is_empty()) {
        let indexed = blocks.iter().map(|piece| {
            let mut block = piece.get("block").cloned().unwrap_or_default();
            if let (Value::Object(block), Some(index)) = (&mut block, piece.get("index")) {
                block.insert("index".to_owned(), index.clone());
            }
            block
        });
        return indexed.collect();
    }
    match chunk.get("reasoning").and_then(Value::as_str).unwrap_or_default() {
        "" => text.into(),
        reasoning => {
            let text = (!text.is_empty()).then(|| json!({ "type": "text", "text": text, "index": 1 }));
            let reasoning = json!({ "type": "reasoning", "reasoning": reasoning, "index": 0 });
            [reasoning].into_iter().chain(text).collect()
        }
    }
}
