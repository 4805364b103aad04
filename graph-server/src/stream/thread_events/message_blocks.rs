use serde_json::{Map, Value, json};

/// The content blocks of a message, while it grows.
#[derive(Debug, Default)]
pub(super) struct MessageBlocks {
    blocks: Vec<GrowingBlock>,
    usage: Option<Value>,
}

#[derive(Debug)]
struct GrowingBlock {
    key: BlockKey,
    /// The block so far. The arguments of a call are a string.
    content: Value,
    /// The length of the arguments when they were sent last.
    sent: usize,
}

/// The part of a chunk that a block is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BlockKey {
    Text,
    Reasoning,
    Call(u64),
    /// A block with an index of its own, and its kind.
    Block(u64, Kind),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Reasoning,
    Other,
}

/// The length up to which arguments are sent with each piece. Longer ones are sent each time that they have grown by an
/// eighth, because each time they are sent completely.
const SHORT_ARGS: usize = 2_048;

impl MessageBlocks {
    /// Adds a chunk, and returns the data of its events.
    pub(super) fn push(&mut self, chunk: &Value) -> Vec<Value> {
        let mut events = Vec::new();
        let text =
            |of: &Value, name: &str| of.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let pieces = chunk.get("blocks").and_then(Value::as_array).filter(|pieces| !pieces.is_empty());
        match pieces {
            Some(pieces) => {
                for piece in pieces {
                    let index = piece.get("index").and_then(Value::as_u64).unwrap_or_default();
                    let Some(block) = piece.get("block") else { continue };
                    match &*text(block, "type") {
                        "text" => {
                            self.grow(BlockKey::Block(index, Kind::Text), &text(block, "text"), &mut events);
                        }
                        "reasoning" => {
                            let key = BlockKey::Block(index, Kind::Reasoning);
                            self.grow(key, &text(block, "reasoning"), &mut events);
                        }
                        "thinking" => {
                            let key = BlockKey::Block(index, Kind::Reasoning);
                            self.grow(key, &text(block, "thinking"), &mut events);
                        }
                        // The same call comes as a piece of a call.
                        "tool_use" | "tool_call" | "function_call" => {}
                        _ => self.extend(index, block, &mut events),
                    }
                }
            }
            None => {
                self.grow(BlockKey::Reasoning, &text(chunk, "reasoning"), &mut events);
                self.grow(BlockKey::Text, &text(chunk, "content"), &mut events);
            }
        }
        for call in chunk.get("tool_call_chunks").and_then(Value::as_array).into_iter().flatten() {
            self.grow_call(call, &mut events);
        }
        if let Some(usage) = chunk.get("usage_metadata").filter(|usage| !usage.is_null()) {
            self.usage = Some(usage.clone());
        }
        events
    }

    /// Ends the message, and returns the data of its last events.
    pub(super) fn finish(self) -> Vec<Value> {
        let mut events: Vec<_> = self
            .blocks
            .into_iter()
            .enumerate()
            .map(|(index, block)| {
                json!({
                    "event": "content-block-finish", "index": index, "content": finished(block.content),
                })
            })
            .collect();
        events.push(match self.usage {
            Some(usage) => json!({ "event": "message-finish", "usage": usage }),
            None => json!({ "event": "message-finish" }),
        });
        events
    }

    /// Finds a block, or begins it with an event.
    fn find(&mut self, key: BlockKey, start: impl FnOnce() -> Value, events: &mut Vec<Value>) -> usize {
        if let Some(index) = self.blocks.iter().position(|block| block.key == key) {
            return index;
        }
        let (index, content) = (self.blocks.len(), start());
        events.push(json!({ "event": "content-block-start", "index": index, "content": content }));
        self.blocks.push(GrowingBlock { key, content, sent: 0 });
        index
    }

    /// Appends text or reasoning to a block.
    fn grow(&mut self, key: BlockKey, piece: &str, events: &mut Vec<Value>) {
        if piece.is_empty() {
            return;
        }
        let name = match key {
            BlockKey::Reasoning | BlockKey::Block(_, Kind::Reasoning) => "reasoning",
            _ => "text",
        };
        let index = self.find(key, || json!({ "type": name, name: "" }), events);
        let Some(block) = self.blocks.get_mut(index) else { return };
        append(&mut block.content, name, piece);
        let delta = json!({ "type": format!("{name}-delta"), name: piece });
        events.push(json!({ "event": "content-block-delta", "index": index, "delta": delta }));
    }

    /// Appends a piece of a tool call.
    fn grow_call(&mut self, call: &Value, events: &mut Vec<Value>) {
        let key = BlockKey::Call(call.get("index").and_then(Value::as_u64).unwrap_or_default());
        let known = self.blocks.iter().any(|block| block.key == key);
        let start = || json!({ "type": "tool_call_chunk", "id": call.get("id"), "name": call.get("name"), "args": "" });
        let index = self.find(key, start, events);
        let Some(block) = self.blocks.get_mut(index) else { return };
        let piece = call.get("args").and_then(Value::as_str).unwrap_or_default();
        append(&mut block.content, "args", piece);
        for name in ["id", "name"] {
            if let (Some(value), Value::Object(content)) =
                (call.get(name).filter(|value| !value.is_null()), &mut block.content)
            {
                content.insert(name.to_owned(), value.clone());
            }
        }
        let length = block.content.get("args").and_then(Value::as_str).map_or(0, str::len);
        let grown = length <= SHORT_ARGS || length >= block.sent + block.sent / 8;
        if (length > block.sent || known) && grown {
            block.sent = length;
            // A snapshot, which all clients understand.
            let delta = json!({ "type": "block-delta", "fields": block.content });
            events.push(json!({ "event": "content-block-delta", "index": index, "delta": delta }));
        }
    }

    /// Adds a piece of a block of another kind.
    fn extend(&mut self, of: u64, piece: &Value, events: &mut Vec<Value>) {
        let key = BlockKey::Block(of, Kind::Other);
        let known = self.blocks.iter().any(|block| block.key == key);
        let index = self.find(key, || piece.clone(), events);
        let Some(block) = self.blocks.get_mut(index).filter(|_| known) else { return };
        let (Value::Object(content), Value::Object(fields)) = (&mut block.content, piece) else { return };
        for (name, value) in fields {
            match (content.get_mut(name), value) {
                (Some(Value::String(text)), Value::String(more)) if name != "type" && name != "id" => {
                    text.push_str(more);
                }
                _ => {
                    content.insert(name.clone(), value.clone());
                }
            }
        }
        let delta = json!({ "type": "block-delta", "fields": content });
        events.push(json!({ "event": "content-block-delta", "index": index, "delta": delta }));
    }
}

fn append(content: &mut Value, name: &str, piece: &str) {
    if let Some(Value::String(text)) = content.get_mut(name) {
        text.push_str(piece);
    }
}

/// Returns a block in its final form: the arguments of a call are an object.
fn finished(content: Value) -> Value {
    if content.get("type").and_then(Value::as_str) != Some("tool_call_chunk") {
        return content;
    }
    let (id, name) = (content.get("id"), content.get("name"));
    let text = content.get("args").and_then(Value::as_str).unwrap_or_default();
    let text = if text.is_empty() { "{}" } else { text };
    match serde_json::from_str::<Map<String, Value>>(text) {
        Ok(args) => json!({ "type": "tool_call", "id": id, "name": name, "args": args }),
        Err(error) => json!({
            "type": "invalid_tool_call", "id": id, "name": name, "args": text, "error": error.to_string(),
        }),
    }
}

/// Returns the data of the events of a message that is complete.
pub(super) fn events_of(message: &Value) -> Vec<Value> {
    let mut events = Vec::new();
    let mut index = 0;
    let mut push = |start: Option<Value>, delta: Option<Value>, content: Value| {
        let start = start.unwrap_or_else(|| content.clone());
        events.push(json!({ "event": "content-block-start", "index": index, "content": start }));
        if let Some(delta) = delta {
            events.push(json!({ "event": "content-block-delta", "index": index, "delta": delta }));
        }
        events.push(json!({ "event": "content-block-finish", "index": index, "content": content }));
        index += 1;
    };
    let mut push_text = |name: &str, text: &str| {
        if !text.is_empty() {
            let delta = json!({ "type": format!("{name}-delta"), name: text });
            push(Some(json!({ "type": name, name: "" })), Some(delta), json!({ "type": name, name: text }));
        }
    };
    let field = |of: &Value, name: &str| of.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut others = Vec::new();
    match message.get("content") {
        Some(Value::String(text)) => push_text("text", text),
        Some(Value::Array(blocks)) => {
            for block in blocks {
                match &*field(block, "type") {
                    "text" => push_text("text", &field(block, "text")),
                    "reasoning" => push_text("reasoning", &field(block, "reasoning")),
                    "thinking" => push_text("reasoning", &field(block, "thinking")),
                    "tool_use" | "tool_call" | "function_call" => {}
                    _ => others.push(block.clone()),
                }
            }
        }
        _ => {}
    }
    for block in others {
        push(None, None, block);
    }
    for (list, kind) in [("tool_calls", "tool_call"), ("invalid_tool_calls", "invalid_tool_call")] {
        for call in message.get(list).and_then(Value::as_array).into_iter().flatten() {
            let mut call = call.clone();
            if let Value::Object(call) = &mut call {
                call.insert("type".to_owned(), kind.into());
            }
            push(None, None, call);
        }
    }
    events.push(match message.get("usage_metadata").filter(|usage| !usage.is_null()) {
        Some(usage) => json!({ "event": "message-finish", "usage": usage }),
        None => json!({ "event": "message-finish" }),
    });
    events
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_calls_are_blocks_in_the_order_of_their_first_pieces() {
        let mut blocks = MessageBlocks::default();
        let mut events = Vec::new();
        for chunk in [
            json!({ "reasoning": "He asks." }),
            json!({ "content": "I " }),
            json!({ "content": "look.", "tool_call_chunks": [{ "index": 0, "id": "c1", "name": "mul", "args": "{\"a\"" }] }),
            json!({ "tool_call_chunks": [{ "index": 0, "args": ":6}" }], "usage_metadata": { "total_tokens": 3 } }),
        ] {
            events.extend(blocks.push(&chunk));
        }
        events.extend(blocks.finish());
        let shown: Vec<_> = events
            .iter()
            .map(|event| format!("{} {}", event["event"].as_str().unwrap(), event["index"]))
            .collect();
        assert_eq!(
            shown,
            [
                "content-block-start 0",
                "content-block-delta 0",
                "content-block-start 1",
                "content-block-delta 1",
                "content-block-delta 1",
                "content-block-start 2",
                "content-block-delta 2",
                "content-block-delta 2",
                "content-block-finish 0",
                "content-block-finish 1",
                "content-block-finish 2",
                "message-finish null",
            ]
        );
        assert_eq!(events[7]["delta"]["fields"]["args"], "{\"a\":6}");
        assert_eq!(events[8]["content"], json!({ "type": "reasoning", "reasoning": "He asks." }));
        assert_eq!(events[9]["content"], json!({ "type": "text", "text": "I look." }));
        assert_eq!(
            events[10]["content"],
            json!({ "type": "tool_call", "id": "c1", "name": "mul", "args": { "a": 6 } })
        );
        assert_eq!(events[11]["usage"], json!({ "total_tokens": 3 }));
    }

    #[test]
    fn long_arguments_are_not_sent_with_every_piece() {
        let mut blocks = MessageBlocks::default();
        let mut bytes = 0;
        for _ in 0..10_000 {
            let chunk = json!({ "tool_call_chunks": [{ "index": 0, "args": "0123456789" }] });
            bytes += blocks.push(&chunk).iter().map(|event| event.to_string().len()).sum::<usize>();
        }
        assert!(bytes < 2_000_000, "{bytes}");
    }

    #[test]
    fn unreadable_arguments_make_an_invalid_call() {
        let mut blocks = MessageBlocks::default();
        blocks.push(&json!({ "tool_call_chunks": [{ "index": 0, "name": "mul", "args": "{" }] }));
        let events = blocks.finish();
        assert_eq!(events[0]["content"]["type"], "invalid_tool_call");
        assert_eq!(events[0]["content"]["args"], "{");
    }

    #[test]
    fn a_complete_message_has_the_same_events() {
        let message = json!({
            "content": "Good morning.", "tool_calls": [{ "id": "c1", "name": "mul", "args": { "a": 6 } }],
        });
        let events = events_of(&message);
        let names: Vec<_> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
        assert_eq!(
            names,
            [
                "content-block-start",
                "content-block-delta",
                "content-block-finish",
                "content-block-start",
                "content-block-finish",
                "message-finish"
            ]
        );
        assert_eq!(events[4]["content"]["type"], "tool_call");
    }
}
