use superstep::messages::{AiMessage, ToolCall};

use super::*;
use crate::model::request::ResponseSchema;

fn clock() -> ToolSpec {
    ToolSpec::new("clock", "returns the time", json!({"type": "object", "properties": {}}))
}

fn check(request: &ChatRequest, expected: Value) {
    let mut sent = body("m", request, "max_tokens", false).unwrap();
    let fields = sent.as_object_mut().unwrap();
    assert_eq!(fields.remove("model"), Some("m".into()));
    assert_eq!(fields.remove("stream"), Some(false.into()));
    if fields["messages"] == json!([{"role": "user", "content": "why?"}]) {
        fields.remove("messages");
    }
    assert_eq!(sent, expected);
}

fn why() -> ChatRequest {
    ChatRequest::new(["why?"])
}

#[test]
fn unset_options_are_not_sent() {
    check(&why(), json!({}));
}

#[test]
fn all_options_are_sent() {
    let answer = ResponseSchema { name: "Answer".to_owned(), schema: json!({"type": "object"}) };
    check(
        &why().tools([clock()]).response_schema(answer).temperature(0.5).max_tokens(7).with("seed", 3),
        json!({
            "tools": [{"type": "function", "function": {
                "name": "clock", "description": "returns the time", "parameters": {"type": "object", "properties": {}},
            }}],
            "response_format": {"type": "json_schema", "json_schema": {"name": "Answer", "schema": {"type": "object"}}},
            "temperature": 0.5, "max_tokens": 7, "seed": 3,
        }),
    );
}

#[test]
fn tool_calls_and_results_have_the_openai_form() {
    let history: [Message; 2] = [
        AiMessage::new("").call(ToolCall::new("call_1", "clock").arg("zone", "utc")).into(),
        Message::tool("call_1", "12:00"),
    ];
    check(
        &ChatRequest::new(history),
        json!({"messages": [
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "clock", "arguments": r#"{"zone":"utc"}"#}},
            ]},
            {"role": "tool", "tool_call_id": "call_1", "content": "12:00"},
        ]}),
    );
}

#[test]
fn tool_choice_is_sent_only_with_tools() {
    let named = || ToolChoice::Tool("clock".to_owned());
    for (choice, expected) in [
        (ToolChoice::Auto, None),
        (ToolChoice::None, Some(json!("none"))),
        (ToolChoice::Required, Some(json!("required"))),
        (named(), Some(json!({"type": "function", "function": {"name": "clock"}}))),
    ] {
        let sent = body("m", &why().tools([clock()]).tool_choice(choice), "max_tokens", false).unwrap();
        assert_eq!(sent.get("tool_choice"), expected.as_ref());
    }
    check(&why().tool_choice(ToolChoice::None), json!({}));
    for choice in [ToolChoice::Required, named()] {
        body("m", &why().tool_choice(choice), "max_tokens", false).unwrap_err();
    }
}

#[test]
fn extra_fields_replace_or_remove_all_but_stream() {
    check(
        &why()
            .temperature(0.5)
            .max_tokens(7)
            .with("temperature", 1)
            .with("max_tokens", Value::Null)
            .with("stream", true),
        json!({"temperature": 1}),
    );
    let streamed = |request: &ChatRequest| body("m", request, "max_tokens", true).unwrap();
    assert_eq!(streamed(&why())["stream_options"], json!({"include_usage": true}));
    let old = streamed(&why().with("stream_options", Value::Null).with("stream", false));
    assert_eq!((old.get("stream_options"), &old["stream"]), (None, &json!(true)));
}

#[test]
fn temperature_must_be_finite() {
    assert_eq!(
        body("m", &why().temperature(f64::NAN), "max_tokens", false).unwrap_err(),
        "the temperature is NaN, but must be finite"
    );
}
