use superstep::messages::{AiMessage, ToolCall};

use super::*;
use crate::model::request::AnswerSchema;

fn clock() -> ToolSpec {
    ToolSpec {
        name: "clock".to_owned(),
        description: "tells the time".to_owned(),
        parameters: json!({"type": "object", "properties": {}}),
    }
}

fn check(request: &ChatRequest, expected: Value) {
    let mut sent = body("m", request, "max_tokens", false).unwrap();
    let fixed = sent.as_object_mut().unwrap();
    assert_eq!(fixed.remove("model"), Some("m".into()));
    assert_eq!(fixed.remove("stream"), Some(false.into()));
    if fixed["messages"] == json!([{"role": "user", "content": "why?"}]) {
        fixed.remove("messages");
    }
    assert_eq!(sent, expected);
}

fn why() -> ChatRequest {
    ChatRequest::new(["why?"])
}

#[test]
fn what_is_not_said_is_not_sent() {
    check(&why(), json!({}));
}

#[test]
fn everything_that_is_said_is_sent() {
    let answer = AnswerSchema { name: "Answer".to_owned(), schema: json!({"type": "object"}) };
    check(
        &why().tools([clock()]).answer(answer).temperature(0.5).max_tokens(7).with("seed", 3),
        json!({
            "tools": [{"type": "function", "function": {
                "name": "clock", "description": "tells the time", "parameters": {"type": "object", "properties": {}},
            }}],
            "response_format": {"type": "json_schema", "json_schema": {"name": "Answer", "schema": {"type": "object"}}},
            "temperature": 0.5, "max_tokens": 7, "seed": 3,
        }),
    );
}

#[test]
fn calls_and_their_answers_are_sent_as_endpoints_want_them() {
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
fn a_choice_of_tools_is_sent_where_there_are_tools() {
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
fn fields_of_the_request_replace_ours_and_nulls_take_them_out_but_for_the_stream() {
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
fn a_temperature_that_is_no_number_is_refused() {
    assert_eq!(
        body("m", &why().temperature(f64::NAN), "max_tokens", false).unwrap_err(),
        "its temperature is NaN"
    );
}
