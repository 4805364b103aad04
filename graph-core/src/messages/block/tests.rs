use serde_json::json;

use super::*;

fn check(block: Value, is: impl Fn(&Block) -> bool) {
    let read: Block = serde_json::from_value(block.clone()).unwrap();
    assert!(is(&read), "{read:?}");
    assert_eq!(serde_json::to_value(&read).unwrap(), block);
}

#[test]
fn block_is_written_in_its_original_format() {
    check(json!({"type": "text", "text": "a", "annotations": []}), |block| block.text() == Some("a"));
    let is_image = |block: &Block| matches!(block, Block::Image(_));
    check(json!({"type": "image_url", "image_url": {"url": "u", "detail": "low"}}), is_image);
    check(json!({"type": "image_url", "image_url": "u"}), is_image);
    check(json!({"type": "image", "url": "u", "id": "x"}), is_image);
    check(json!({"type": "image", "base64": "AA==", "mime_type": "image/png"}), is_image);
    check(json!({"type": "image", "file_id": "f"}), is_image);
    check(json!({"type": "image", "source_type": "base64", "data": "", "mime_type": "image/png"}), is_image);
    check(
        json!({"type": "image", "source_type": "url", "url": "u", "metadata": {"detail": "low"}}),
        is_image,
    );
    check(json!({"type": "image", "source_type": "id", "id": "f"}), is_image);
    let base64 = json!({"type": "base64", "media_type": "image/png", "data": "AA=="});
    check(json!({"type": "image", "source": base64, "cache_control": {"type": "ephemeral"}}), is_image);
    check(json!({"type": "image", "source": {"type": "url", "url": "u"}}), is_image);
    let is_call = |block: &Block| matches!(block, Block::ToolUse(call) if call.input == json!({"a": 1}));
    check(json!({"type": "tool_use", "id": "c", "name": "n", "input": {"a": 1}, "index": 0}), is_call);
    check(json!({"type": "tool_call", "id": "c", "name": "n", "args": {"a": 1}}), is_call);
    let is_thought = |block: &Block| matches!(block, Block::Reasoning(thought) if thought.text == "hm");
    check(json!({"type": "thinking", "thinking": "hm", "signature": "s"}), is_thought);
    check(json!({"type": "reasoning", "reasoning": "hm"}), is_thought);
}

#[test]
fn unknown_block_is_kept() {
    let is_other = |block: &Block| matches!(block, Block::Other(_));
    check(json!({"type": "redacted_thinking", "data": "x"}), is_other);
    check(json!({"type": "input_audio", "input_audio": {"data": "", "format": "wav"}}), is_other);
    check(json!({"no": "type"}), is_other);
    // A known type in an unknown format.
    check(json!({"type": "text", "text": 3}), is_other);
    check(json!({"type": "image", "source_type": "text", "text": ""}), is_other);
    check(json!({"type": "image_url", "image_url": {"url": "u", "more": 1}}), is_other);
    check(json!({"type": "image", "source": {"type": "base64", "data": ""}}), is_other);
    check(json!({"type": "tool_use", "id": null, "name": "n", "input": {}}), is_other);
    check(json!({"type": "reasoning", "summary": []}), is_other);
}
