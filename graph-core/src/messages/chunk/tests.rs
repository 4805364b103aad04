use serde_json::{Value, json};

use super::{MessageAssembler, MessageChunk};
use crate::messages::{AiMessage, Content, InvalidToolCall, ToolCall, Usage};

fn assembled(pieces: impl IntoIterator<Item = Value>) -> AiMessage {
    let mut whole = MessageAssembler::default();
    for piece in pieces {
        whole.push(&serde_json::from_value(piece).unwrap());
    }
    whole.finish()
}

#[test]
fn streamed_fields_grow_and_metadata_is_replaced() {
    let reply = assembled([
        json!({
            "additional_kwargs": {"refusal": "I must ", "audio": {"id": "a", "data": "AA"}, "citations": [1], "seen": 1},
            "response_metadata": {"model_name": "m", "logprobs": {"content": ["I"], "of": "m"}},
        }),
        json!({
            "additional_kwargs": {"refusal": "not.", "audio": {"data": "BB"}, "citations": [2], "seen": 2},
            "response_metadata": {"model_name": "m", "logprobs": {"content": ["must"], "of": "m"}, "finish_reason": "stop"},
        }),
    ]);
    assert_eq!(
        Value::Object(reply.additional_kwargs),
        json!({"refusal": "I must not.", "audio": {"id": "a", "data": "AABB"}, "citations": [1, 2], "seen": 2})
    );
    assert_eq!(
        Value::Object(reply.response_metadata),
        json!({"model_name": "m", "logprobs": {"content": ["I", "must"], "of": "m"}, "finish_reason": "stop"})
    );
}

#[test]
fn whole_message_is_one_piece() {
    let thoughtful = json!([{"type": "reasoning", "reasoning": "Hm."}, {"type": "text", "text": "Yes."}]);
    let mut message = AiMessage::new(serde_json::from_value::<Content>(thoughtful).unwrap())
        .call(ToolCall::new("a", "clock").arg("zone", "utc"))
        .usage(Usage::new(1, 2));
    message.id = Some("1".to_owned());
    message.additional_kwargs.insert("refusal".to_owned(), "no".into());
    let mut whole = MessageAssembler::default();
    whole.push(&MessageChunk::from(&message));
    assert_eq!(whole.finish(), message);
}

fn block(index: usize, block: Value) -> Value {
    json!({"blocks": [{"index": index, "block": block}]})
}

fn content(reply: &AiMessage) -> Value {
    serde_json::to_value(&reply.content).unwrap()
}

#[test]
fn chunk_survives_its_json() {
    let reply = every_part();
    let chunk = MessageChunk::from(&reply);
    assert_eq!((chunk.text.as_str(), chunk.reasoning.as_str()), ("It is noon.Really.", "Hm."));
    let json = serde_json::to_value(&chunk).unwrap();
    assert_eq!((&json["content"], &json["reasoning"]), (&json!("It is noon.Really."), &json!("Hm.")));
    assert_eq!(
        json["blocks"][0],
        json!({"index": 0, "block": {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}})
    );
    let read: MessageChunk = serde_json::from_value(json).unwrap();
    assert_eq!(read, chunk);
    let mut whole = MessageAssembler::default();
    whole.push(&read);
    assert_eq!(whole.finish(), reply);
}

/// Returns a message that uses all fields.
fn every_part() -> AiMessage {
    let content = json!([
        {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "eHg="},
        {"type": "text", "text": "It is noon.", "citations": [{"start": 1}]},
        {"type": "tool_use", "id": "a", "name": "clock", "input": {"zone": "utc"}},
        {"type": "text", "text": "Really.", "index": 7},
        {"type": "image", "base64": "AA==", "mime_type": "image/png"},
    ]);
    let mut call = ToolCall::new("a", "clock").arg("zone", "utc");
    call.extra.insert("thought_signature".to_owned(), "c2ln".into());
    let mut invalid = InvalidToolCall::new("b", "add", "{}");
    invalid.extra.insert("custom".to_owned(), json!({"format": "text"}));
    let mut message = AiMessage::new(serde_json::from_value::<Content>(content).unwrap())
        .call(call)
        .invalid_call(invalid)
        .invalid_call(InvalidToolCall::new("c", "add", "{").error("cut off"))
        .usage(Usage::new(1, 2));
    message.name = Some("ann".to_owned());
    message.extra.insert("example".to_owned(), true.into());
    message.response_metadata.insert("finish_reason".to_owned(), "stop".into());
    message
}

#[test]
fn blocks_grow_by_their_index() {
    let thinking = |index, text: &str| block(index, json!({"type": "thinking", "thinking": text}));
    let text = |index, text: &str| block(index, json!({"type": "text", "text": text}));
    let reply = assembled([
        thinking(0, "Is "),
        text(1, "No"),
        thinking(0, "it?"),
        block(0, json!({"type": "thinking", "thinking": "", "signature": "c2"})),
        block(0, json!({"type": "thinking", "thinking": "", "signature": "ln"})),
        block(1, json!({"type": "text", "text": "", "citations": [1]})),
        block(1, json!({"type": "text", "text": ".", "citations": [2]})),
        thinking(2, "Or is it?"),
        text(3, "Yes."),
        text(1, ""),
    ]);
    assert_eq!(
        content(&reply),
        json!([
            {"type": "thinking", "thinking": "Is it?", "signature": "c2ln"},
            {"type": "text", "text": "No.", "citations": [1, 2]},
            {"type": "thinking", "thinking": "Or is it?"},
            {"type": "text", "text": "Yes."},
        ])
    );
    let sent = crate::messages::AnthropicPrompt::of(&[reply.into()]);
    assert_eq!(sent.messages[1]["content"][0]["signature"], "c2ln", "Anthropic refuses thinking without it");
}

#[test]
fn block_of_another_kind_is_not_lost() {
    let reply = assembled([
        block(0, json!({"type": "text", "text": "a"})),
        block(0, json!({"type": "redacted_thinking", "data": "x"})),
        block(0, json!({"type": "server_tool_use", "id": "s", "status": "started"})),
        block(0, json!({"type": "server_tool_use", "status": "done", "found": [1]})),
    ]);
    assert_eq!(
        content(&reply),
        json!([
            {"type": "text", "text": "a"},
            {"type": "redacted_thinking", "data": "x"},
            {"type": "server_tool_use", "id": "s", "status": "done", "found": [1]},
        ])
    );
}

#[test]
fn text_outside_blocks_comes_first() {
    let reply = assembled([
        json!({"content": "a"}),
        block(3, json!({"type": "text", "text": "c"})),
        json!({"reasoning": "Hm.", "content": "b"}),
    ]);
    assert_eq!(
        content(&reply),
        json!([{"type": "reasoning", "reasoning": "Hm."}, {"type": "text", "text": "ab"}, {"type": "text", "text": "c"}])
    );
    let block = block(0, json!({"type": "text", "text": "a"}));
    assert_eq!(content(&assembled([block])), json!([{"type": "text", "text": "a"}]), "one block is a list");
}

#[test]
fn call_in_the_content_gets_the_streamed_arguments() {
    let open =
        |index, id: &str| block(index, json!({"type": "tool_use", "id": id, "name": "clock", "input": null}));
    let reply = assembled([
        open(0, "a"),
        piece(0, "a", "{\"zone\": "),
        open(1, "b"),
        piece(1, "b", "{"),
        piece(0, "", "1}"),
        open(2, "c"),
    ]);
    let inputs: Vec<_> =
        content(&reply).as_array().unwrap().iter().map(|block| block["input"].clone()).collect();
    assert_eq!(inputs, [json!({"zone": 1}), json!("{"), json!({})]);
}

#[test]
fn other_fields_of_a_call_are_kept() {
    let signed = |extra: Value| json!({"tool_call_chunks": [{"index": 0, "args": "", "extra": extra}]});
    let reply = assembled([
        piece(0, "a", "{}"),
        signed(json!({"extra_content": {"google": {"thought_signature": "c2ln"}}})),
        signed(json!({"extra_content": {"google": {"thought_signature": "c2ln"}, "n": 1}})),
    ]);
    let expected =
        json!({"type": "tool_call", "extra_content": {"google": {"thought_signature": "c2ln"}, "n": 1}});
    assert_eq!(Value::Object(reply.tool_calls[0].extra.clone()), expected);
}

#[test]
fn indexed_elements_of_a_list_grow() {
    let details = |details: Value| json!({"additional_kwargs": {"reasoning_details": [details]}});
    let reply = assembled([
        details(json!({"type": "reasoning.text", "index": 0, "id": "r", "text": "Is "})),
        details(json!({"type": "reasoning.text", "index": 0, "id": "r", "text": "it?"})),
        details(json!({"type": "reasoning.text", "index": 0, "id": "r", "signature": "c2ln"})),
        details(json!({"type": "reasoning.encrypted", "index": 1, "data": "eHg="})),
    ]);
    assert_eq!(
        reply.additional_kwargs["reasoning_details"],
        json!([
            {"type": "reasoning.text", "index": 0, "id": "r", "text": "Is it?", "signature": "c2ln"},
            {"type": "reasoning.encrypted", "index": 1, "data": "eHg="},
        ])
    );
}

#[test]
fn error_of_a_call_does_not_repeat_its_arguments() {
    let long = format!("\"{}\"", "ü".repeat(1_000_000));
    for args in [long.as_str(), "{\"a\": ", "[1]"] {
        let reply =
            assembled([json!({"tool_call_chunks": [{"index": 0, "id": "a", "name": "add", "args": args}]})]);
        let whole = json!({"role": "assistant", "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "add", "arguments": args}},
        ]});
        let whole = crate::messages::Message::from_json(whole).unwrap();
        assert_eq!(&reply.invalid_tool_calls, &whole.as_ai().unwrap().invalid_tool_calls);
        let call = &reply.invalid_tool_calls[0];
        let error = call.error.as_ref().unwrap();
        assert!(error.len() < 600 && error.contains("at line 1"), "{error}");
        assert_eq!(call.args, args);
    }
}

#[test]
fn call_with_deep_arguments_is_invalid() {
    for (depth, is_valid) in [(99, true), (100, false), (126, false), (127, false)] {
        let args = format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
        let piece = json!({"tool_call_chunks": [{"index": 0, "id": "a", "name": "add", "args": args}]});
        let reply = assembled([piece]);
        assert_eq!(reply.tool_calls.len(), usize::from(is_valid), "{depth}");
        let parsed: Value = serde_json::from_str(&args).unwrap_or_default();
        for arguments in [args.into(), parsed].into_iter().filter(|args: &Value| !args.is_null()) {
            let whole = json!({"role": "assistant", "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "add", "arguments": arguments}},
            ]});
            let whole = crate::messages::Message::from_json(whole).unwrap();
            let whole = whole.as_ai().unwrap();
            assert_eq!(whole.tool_calls.len(), usize::from(is_valid), "{depth}");
            let payload = crate::payload::to_payload(&[whole]).unwrap();
            assert!(!payload.bytes().is_empty());
        }
    }
}

fn piece(index: usize, id: &str, args: &str) -> Value {
    json!({"tool_call_chunks": [{"index": index, "id": id, "name": "clock", "args": args}]})
}

fn called(reply: &AiMessage) -> Vec<(&str, usize)> {
    assert_eq!(reply.invalid_tool_calls, []);
    reply.tool_calls.iter().map(|call| (call.id.as_str(), call.args.len())).collect()
}

#[test]
fn calls_with_one_index_differ_by_id() {
    let rest = json!({"tool_call_chunks": [{"index": 0, "args": ": 1}"}]});
    let reply = assembled([piece(0, "a", "{}"), piece(0, "b", "{\"x\""), rest]);
    assert_eq!(called(&reply), [("a", 0), ("b", 1)]);
    let reply = assembled([piece(0, "a", "{\"x\""), piece(0, "a", ": 1"), piece(0, "", "}")]);
    assert_eq!(called(&reply), [("a", 1)], "some servers repeat the id");
}

#[test]
fn calls_are_ordered_by_index() {
    let reply = assembled([piece(1, "b", "null"), piece(0, "a", " "), piece(1, "", "")]);
    assert_eq!(called(&reply), [("a", 0), ("b", 0)]);
}
