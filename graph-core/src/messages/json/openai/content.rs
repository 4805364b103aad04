use serde_json::{Map, Value, json};

use crate::messages::{Block, Content, ImageBlock, ImageSource};

/// Returns the content in the format of chat endpoints.
pub(super) fn content(content: &Content) -> Value {
    match content {
        Content::Text(text) => text.as_str().into(),
        Content::Blocks(blocks) => {
            let parts: Vec<_> = blocks.iter().filter_map(part).collect();
            if parts.is_empty() { "".into() } else { parts.into() }
        }
    }
}

/// Converts a block to a part, or `None` if the format has no such part.
fn part(block: &Block) -> Option<Value> {
    match block {
        Block::Text(text) => {
            // Some endpoints refuse the extra fields of other providers.
            let foreign = ["citations", "extras", "id", "index"];
            let extra = text.extra.iter().filter(|(key, _)| !foreign.contains(&key.as_str()));
            Some(with(json!({"type": "text", "text": text.text}), extra))
        }
        Block::Image(image) => Some(self::image(image)),
        Block::ToolUse(_) | Block::Reasoning(_) => None,
        Block::Other(block) => {
            let kind = block.get("type")?.as_str()?;
            (!is_foreign(kind)).then(|| Value::Object(block.clone()))
        }
    }
}

/// Returns `true` for blocks of other providers and of LangChain. All others are sent, because endpoints have more
/// parts than are known here.
fn is_foreign(kind: &str) -> bool {
    const NAMES: [&str; 14] = [
        "container_upload",
        "document",
        "image",
        "input_json_delta",
        "invalid_tool_call",
        "non_standard",
        "reasoning",
        "reasoning_content",
        "redacted_thinking",
        "search_result",
        "server_tool_result",
        "thinking",
        "tool_call_chunk",
        "server_tool_call_chunk",
    ];
    let endings = ["tool_use", "tool_result", "_call"];
    NAMES.contains(&kind) || endings.iter().any(|ending| kind.ends_with(ending))
}

fn image(image: &ImageBlock) -> Value {
    let url = match &image.source {
        ImageSource::Url(url) => url.clone(),
        ImageSource::Base64 { media_type, data } => format!("data:{media_type};base64,{data}"),
        // The format refers to files in their own kind of part.
        ImageSource::File(id) => return json!({"type": "file", "file": {"file_id": id}}),
    };
    let mut inner = Map::from_iter([("url".to_owned(), url.into())]);
    if let Some(detail) = &image.detail {
        inner.insert("detail".to_owned(), detail.as_str().into());
    }
    let extra = if image.is_of_chat() { Some(&image.extra) } else { None };
    with(json!({"type": "image_url", "image_url": inner}), extra.into_iter().flatten())
}

fn with<'a>(mut part: Value, extra: impl Iterator<Item = (&'a String, &'a Value)>) -> Value {
    if let Some(part) = part.as_object_mut() {
        part.extend(extra.map(|(key, value)| (key.clone(), value.clone())));
    }
    part
}
