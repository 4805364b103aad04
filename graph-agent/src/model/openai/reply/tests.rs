use serde_json::json;
use superstep::messages::InvalidToolCall;

use super::*;

fn check(reply: Value, expected: Value) {
    let Value::Object(reply) = reply else { panic!("{reply}") };
    let mut read = serde_json::to_value(Message::from(super::read(reply).unwrap())).unwrap();
    // An empty list is serialized, too.
    if read["tool_calls"] == json!([]) {
        read.as_object_mut().unwrap().remove("tool_calls");
    }
    assert_eq!(read, expected);
}

fn reply_with(message: Value) -> Value {
    json!({"choices": [{"index": 0, "message": message}]})
}

#[test]
fn reply_keeps_its_metadata() {
    check(
        json!({
            "id": "chatcmpl-1", "object": "chat.completion", "created": 7, "model": "m-2", "system_fingerprint": null,
            "choices": [{
                "index": 0, "finish_reason": "stop", "logprobs": null, "stop_token": 5,
                "message": {"role": "assistant", "content": "Because.", "refusal": null, "annotations": []},
            }],
            "usage": {"prompt_tokens": 2, "completion_tokens": 3, "total_tokens": 5, "cost": 0.5},
        }),
        json!({
            "type": "ai", "content": "Because.",
            "usage_metadata": {"input_tokens": 2, "output_tokens": 3, "total_tokens": 5},
            "response_metadata": {
                "id": "chatcmpl-1", "created": 7, "model_name": "m-2", "finish_reason": "stop", "stop_token": 5,
                "token_usage": {"prompt_tokens": 2, "completion_tokens": 3, "total_tokens": 5, "cost": 0.5},
            },
        }),
    );
}

#[test]
fn refusal_and_unknown_fields_are_kept() {
    check(
        reply_with(
            json!({"content": null, "refusal": "I must not.", "citations": [{"url": "u"}], "id": "always-the-same"}),
        ),
        json!({
            "type": "ai", "content": "",
            "additional_kwargs": {"refusal": "I must not.", "citations": [{"url": "u"}]},
        }),
    );
}

#[test]
fn reasoning_is_a_block_of_the_content() {
    for key in REASONING_KEYS {
        check(
            reply_with(json!({"content": "Yes.", key: "Is it?"})),
            json!({"type": "ai", "content": [
                {"type": "reasoning", "reasoning": "Is it?"}, {"type": "text", "text": "Yes."},
            ]}),
        );
    }
    check(
        reply_with(json!({"content": "Yes.", "reasoning": "", "reasoning_content": null})),
        json!({"type": "ai", "content": "Yes."}),
    );
}

#[test]
fn calls_with_broken_arguments_are_invalid() {
    let call = |arguments: Value| json!({"id": "c", "type": "function", "function": {"name": "add", "arguments": arguments}});
    let read = |arguments: Value| {
        let reply =
            reply_with(json!({"role": "assistant", "content": null, "tool_calls": [call(arguments)]}));
        let Value::Object(reply) = reply else { panic!("{reply}") };
        super::read(reply).unwrap()
    };
    for (arguments, expected) in
        [(json!(r#"{"a": 1}"#), json!({"a": 1})), (json!({"a": 1}), json!({"a": 1})), (json!(""), json!({}))]
    {
        let reply = read(arguments);
        assert_eq!(Value::Object(reply.tool_calls[0].args.clone()), expected);
        assert_eq!(reply.calls().collect::<Vec<_>>(), [("c", "add")]);
    }
    for broken in [r#"{"a": "#, "[1]", "a = 1"] {
        let reply = read(broken.into());
        let [InvalidToolCall { id, name, args, error: Some(_), .. }] = &reply.invalid_tool_calls[..] else {
            panic!("{reply:?}")
        };
        assert_eq!((id.as_str(), name.as_str(), args.as_str()), ("c", "add", broken));
        assert!(reply.tool_calls.is_empty());
    }
}

#[test]
fn invalid_reply_has_a_reason() {
    for (reply, expected) in [
        (json!({}), "the reply has no choice"),
        (json!({"choices": []}), "the reply has no choice"),
        (json!({"choices": null}), "the reply has no choice"),
        (json!({"choices": [{"index": 0}]}), "the choice has no message"),
        (reply_with(json!("text")), "the choice has no message"),
        (reply_with(json!({"content": 7})), "the message cannot be read"),
    ] {
        let Value::Object(reply) = reply else { panic!("{reply}") };
        assert_eq!(super::read(reply).unwrap_err().to_string(), expected);
    }
}
