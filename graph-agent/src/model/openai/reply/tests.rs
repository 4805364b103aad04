use serde_json::json;
use superstep::messages::InvalidToolCall;

use super::*;

fn check(reply: Value, expected: Value) {
    let Value::Object(reply) = reply else { panic!("{reply}") };
    let mut read = serde_json::to_value(Message::from(super::read(reply).unwrap())).unwrap();
    // Written also when there are none.
    if read["tool_calls"] == json!([]) {
        read.as_object_mut().unwrap().remove("tool_calls");
    }
    assert_eq!(read, expected);
}

fn says(message: Value) -> Value {
    json!({"choices": [{"index": 0, "message": message}]})
}

#[test]
fn a_reply_keeps_what_is_said_of_it() {
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
fn a_refusal_and_fields_of_one_provider_stay_with_the_message() {
    check(
        says(
            json!({"content": null, "refusal": "I must not.", "citations": [{"url": "u"}], "id": "always-the-same"}),
        ),
        json!({
            "type": "ai", "content": "",
            "additional_kwargs": {"refusal": "I must not.", "citations": [{"url": "u"}]},
        }),
    );
}

#[test]
fn a_thought_is_a_block_of_the_content() {
    for key in THOUGHTS {
        check(
            says(json!({"content": "Yes.", key: "Is it?"})),
            json!({"type": "ai", "content": [
                {"type": "reasoning", "reasoning": "Is it?"}, {"type": "text", "text": "Yes."},
            ]}),
        );
    }
    check(
        says(json!({"content": "Yes.", "reasoning": "", "reasoning_content": null})),
        json!({"type": "ai", "content": "Yes."}),
    );
}

#[test]
fn calls_are_read_and_those_with_broken_arguments_are_invalid() {
    let called = |arguments: Value| json!({"id": "c", "type": "function", "function": {"name": "add", "arguments": arguments}});
    let read = |arguments: Value| {
        let reply = says(json!({"role": "assistant", "content": null, "tool_calls": [called(arguments)]}));
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
fn what_is_no_reply_is_an_error_that_says_why() {
    for (reply, expected) in [
        (json!({}), "it has no choice"),
        (json!({"choices": []}), "it has no choice"),
        (json!({"choices": null}), "it has no choice"),
        (json!({"choices": [{"index": 0}]}), "its choice has no message"),
        (says(json!("text")), "its choice has no message"),
        (says(json!({"content": 7})), "its message cannot be read"),
    ] {
        let Value::Object(reply) = reply else { panic!("{reply}") };
        assert_eq!(super::read(reply).unwrap_err().to_string(), expected);
    }
}
