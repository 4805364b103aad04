use serde_json::{Map, Value, json};

use crate::messages::{Block, Content, ImageBlock, ImageSource};

/// Returns the content as blocks, without empty text.
pub(super) fn of(content: &Content) -> Vec<Value> {
    match content {
        Content::Text(text) if text.trim().is_empty() => Vec::new(),
        Content::Text(text) => vec![self::text(text)],
        Content::Blocks(blocks) => blocks.iter().filter_map(block).collect(),
    }
}

/// Returns the text blocks of the content.
pub(super) fn texts(content: &Content) -> Vec<Value> {
    of(content).into_iter().filter(|block| block["type"] == "text").collect()
}

/// Returns the blocks that a tool result may contain.
pub(super) fn result(content: &Content) -> Vec<Value> {
    let is_allowed = |block: &Value| {
        matches!(block["type"].as_str(), Some("text" | "image" | "document" | "search_result"))
    };
    of(content).into_iter().filter(is_allowed).collect()
}

pub(super) fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// Converts a block. Empty text, and blocks that only other providers know, become `None`. Of the extra fields only
/// known ones are sent, because Anthropic refuses others.
pub(super) fn block(block: &Block) -> Option<Value> {
    match block {
        Block::Text(block) if block.text.trim().is_empty() => None,
        Block::Text(block) => Some(with(text(&block.text), &block.extra, &["cache_control", "citations"])),
        Block::Image(block) => Some(image(block)),
        Block::Reasoning(block) => {
            let signature = block.signed()?;
            Some(json!({"type": "thinking", "thinking": block.text, "signature": signature}))
        }
        // Sent as the calls of the message.
        Block::ToolUse(_) => None,
        Block::Other(block) => match block.get("type")?.as_str()? {
            "refusal" => block.get("refusal")?.as_str().filter(|text| !text.trim().is_empty()).map(text),
            kind if is_foreign(kind) => None,
            _ => Some(Value::Object(block.clone())),
        },
    }
}

/// Returns `true` for blocks of chat endpoints and LangChain, and for known types in an unknown form.
fn is_foreign(kind: &str) -> bool {
    const NAMES: [&str; 20] = [
        "audio",
        "file",
        "function_call",
        "image",
        "image_url",
        "input_audio",
        "input_json_delta",
        "invalid_tool_call",
        "non_standard",
        "reasoning",
        "reasoning_content",
        "server_tool_call",
        "text",
        "text-plain",
        "thinking",
        "tool_call",
        "tool_call_chunk",
        "tool_use",
        "video",
        "video_url",
    ];
    NAMES.contains(&kind)
}

fn image(image: &ImageBlock) -> Value {
    let source = match &image.source {
        ImageSource::Url(url) => match url.strip_prefix("data:").and_then(|url| url.split_once(";base64,")) {
            Some((media_type, data)) => json!({"type": "base64", "media_type": media_type, "data": data}),
            None => json!({"type": "url", "url": url}),
        },
        ImageSource::Base64 { media_type, data } => {
            json!({"type": "base64", "media_type": media_type, "data": data})
        }
        ImageSource::File(id) => json!({"type": "file", "file_id": id}),
    };
    with(json!({"type": "image", "source": source}), &image.extra, &["cache_control"])
}

fn with(mut block: Value, extra: &Map<String, Value>, known: &[&str]) -> Value {
    if let Some(block) = block.as_object_mut() {
        let known = extra.iter().filter(|(key, value)| known.contains(&key.as_str()) && !value.is_null());
        block.extend(known.map(|(key, value)| (key.clone(), value.clone())));
    }
    block
}
