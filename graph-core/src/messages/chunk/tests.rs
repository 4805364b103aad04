use serde_json::json;

use super::*;

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
