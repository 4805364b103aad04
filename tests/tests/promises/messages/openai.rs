//! Requests in OpenAI's format.

use serde_json::{Value, json};
use superstep::messages::{AiMessage, Block, Message, ToolCall, ToolMessage, ToolUseBlock};

#[track_caller]
fn check(message: impl Into<Message>, expected: Value) {
    assert_eq!(message.into().to_openai(), expected);
}

fn read(value: Value) -> Message {
    Message::from_json(value).unwrap()
}

#[test]
fn reply_with_calls_only_has_null_content() {
    let call = json!({"id": "c", "type": "function", "function": {"name": "clock", "arguments": "{}"}});
    check(
        AiMessage::new("").call(ToolCall::new("c", "clock")),
        json!({"role": "assistant", "content": null, "tool_calls": [call]}),
    );
    check(
        AiMessage::new("I look.").call(ToolCall::new("c", "clock")),
        json!({"role": "assistant", "content": "I look.", "tool_calls": [call]}),
    );
    check(Message::ai(""), json!({"role": "assistant", "content": ""}));
    check(
        read(json!({"role": "assistant", "tool_calls": [call]})),
        json!({"role": "assistant", "content": null, "tool_calls": [call]}),
    );
}

#[test]
fn calls_in_the_content_are_sent_once() {
    let content = [
        Block::from_text("I look."),
        Block::ToolUse(ToolUseBlock::new("c", "clock", json!({"zone": "CET"}))),
    ];
    let call = json!({"id": "c", "type": "function", "function": {"name": "clock", "arguments": "{\"zone\":\"CET\"}"}});
    let sent =
        json!({"role": "assistant", "content": [{"type": "text", "text": "I look."}], "tool_calls": [call]});
    check(AiMessage::new(content.clone()).call(ToolCall::new("c", "clock").arg("zone", "CET")), sent.clone());
    // If the message has no list of calls, reading takes them from the content.
    let blocks: Vec<_> = content.iter().map(Block::to_json).collect();
    check(read(json!({"type": "ai", "content": blocks})), sent.clone());
    check(read(json!({"role": "assistant", "content": blocks})), sent);
    // An explicit list of calls takes precedence, even if it is empty.
    let none = read(json!({"type": "ai", "content": blocks, "tool_calls": []}));
    assert!(!none.as_ai().unwrap().has_calls());
    assert_eq!(read(serde_json::to_value(&none).unwrap()), none);
}

#[test]
fn fields_unknown_to_openai_are_omitted() {
    let message = read(json!({
        "type": "ai", "id": "run-1", "example": false, "response_metadata": {"model": "m"},
        "additional_kwargs": {"tool_calls": [], "__gemini_ids__": {}, "reasoning_content": "hm"},
        "usage_metadata": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2},
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "redacted_thinking", "data": "x"},
            {"type": "text", "text": "Noon.", "index": 1, "citations": []}, {"type": "server_tool_use", "id": "s"},
            {"type": "web_search_tool_result", "content": []}, {"type": "web_search_call", "id": "w"},
            {"type": "some_new_part", "data": 1},
        ],
    }));
    check(
        message,
        json!({
            "role": "assistant", "reasoning_content": "hm",
            "content": [{"type": "text", "text": "Noon."}, {"type": "some_new_part", "data": 1}],
        }),
    );
    check(
        ToolMessage::error("c", "no").name("clock").artifact(json!([1])),
        json!({"role": "tool", "content": "no", "name": "clock", "tool_call_id": "c"}),
    );
}

#[test]
fn every_image_form_becomes_an_image_url() {
    let at = json!([{"type": "image_url", "image_url": {"url": "https://a.example/b.png"}}]);
    let here = json!([{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}]);
    let file = json!([{"type": "file", "file": {"file_id": "f"}}]);
    for (block, expected) in [
        (json!({"type": "image_url", "image_url": "https://a.example/b.png"}), &at),
        (json!({"type": "image_url", "image_url": {"url": "https://a.example/b.png"}}), &at),
        (json!({"type": "image", "url": "https://a.example/b.png", "id": "x"}), &at),
        (json!({"type": "image", "source_type": "url", "url": "https://a.example/b.png"}), &at),
        (json!({"type": "image", "source": {"type": "url", "url": "https://a.example/b.png"}}), &at),
        (json!({"type": "image", "base64": "AA==", "mime_type": "image/png"}), &here),
        (json!({"type": "image", "source_type": "base64", "data": "AA==", "mime_type": "image/png"}), &here),
        (
            json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}),
            &here,
        ),
        (json!({"type": "image", "file_id": "f"}), &file),
        (json!({"type": "image", "source": {"type": "file", "file_id": "f"}}), &file),
    ] {
        let message = read(json!({"type": "human", "content": [block.clone()]}));
        assert_eq!(&message.to_openai()["content"], expected, "{block}");
        assert_eq!(
            serde_json::to_value(&message).unwrap()["content"][0],
            block,
            "the stored form is unchanged"
        );
    }
    check(
        Message::human([Block::image_base64("image/png", "AA==")]),
        json!({"role": "user", "content": here}),
    );
}

#[test]
fn arguments_are_read_as_string_or_object() {
    let args = |arguments: Value| {
        let message = read(
            json!({"role": "assistant", "tool_calls": [{"id": null, "function": {"name": "n", "arguments": arguments}}]}),
        );
        let message = message.as_ai().unwrap().clone();
        match (&message.tool_calls[..], &message.invalid_tool_calls[..]) {
            ([call], []) => Ok(Value::Object(call.args.clone())),
            ([], [call]) => Err(call.args.clone()),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(args(json!("{\"a\": 1}")), Ok(json!({"a": 1})));
    assert_eq!(args(json!({"a": 1})), Ok(json!({"a": 1})));
    for nothing in [json!(""), json!(" "), json!(null), json!("null")] {
        assert_eq!(args(nothing), Ok(json!({})));
    }
    assert_eq!(args(json!("{\"a\": ")), Err("{\"a\": ".to_owned()));
    assert_eq!(args(json!([1])), Err("[1]".to_owned()));
    assert_eq!(args(json!("[1]")), Err("[1]".to_owned()));
}

#[test]
fn malformed_calls_are_an_error() {
    for calls in [json!({}), json!("x"), json!(["x"]), json!([{"id": "c"}])] {
        let error = Message::from_json(json!({"role": "assistant", "tool_calls": calls})).unwrap_err();
        assert!(error.to_string().contains("calls of a message must be a list of objects"), "{error}");
    }
    // LangChain's form of a call is accepted here too.
    let message = read(json!({"role": "ai", "tool_calls": [{"name": "n", "args": {"a": 1}, "id": "c"}]}));
    assert_eq!(message.as_ai().unwrap().tool_calls[0].args["a"], 1);
    // A call without a name still needs an answer.
    let message =
        read(json!({"role": "assistant", "tool_calls": [{"id": "c", "function": {"arguments": "{}"}}]}));
    assert_eq!(message.as_ai().unwrap().calls().collect::<Vec<_>>(), [("c", "")]);
}

#[test]
fn empty_reply_has_empty_content() {
    let empty = json!({"role": "assistant", "content": "", "refusal": null, "annotations": []});
    check(read(empty.clone()), empty);
    let refused = json!({"role": "assistant", "content": null, "refusal": "no"});
    check(read(refused.clone()), refused);
}
