//! Requests to an endpoint and its complete replies.

use serde_json::{Value, json};
use superstep::messages::{Message, Usage};
use superstep_agent::{ChatModel as _, ChatRequest, OpenAiModel, ToolChoice, ToolSpec};

use crate::server::{Answer, Server};
use crate::strict::strict;
use crate::{builder, model, why};

/// A reply in OpenAI's form.
pub(crate) fn reply(message: Value, finish_reason: &str) -> Value {
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "test-model-2",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 12, "total_tokens": 21,
            "prompt_tokens_details": {"cached_tokens": 4}, "completion_tokens_details": {"reasoning_tokens": 5}},
    })
}

pub(crate) fn says(text: &str) -> Answer {
    Answer::json(200, &reply(json!({"role": "assistant", "content": text}), "stop"))
}

fn clock() -> ToolSpec {
    ToolSpec::new(
        "clock",
        "returns the time",
        json!({"type": "object", "properties": {"zone": {"type": "string"}}}),
    )
}

#[tokio::test]
async fn request_has_the_openai_form() {
    let server = Server::start([says("Because.")]);
    let request = ChatRequest::new([Message::system("be brief"), Message::human("why? ü 🦀")])
        .tools([clock()])
        .tool_choice(ToolChoice::Required)
        .temperature(0.5)
        .max_tokens(7)
        .with("seed", 3);
    let model = builder(&server).header("X-Team", "tests").build().unwrap();
    assert_eq!(model.complete(&request).await.unwrap().content, "Because.");

    let request = server.only_request();
    assert_eq!(request.line, "POST /v1/chat/completions HTTP/1.1");
    assert_eq!(request.header("authorization"), Some("Bearer s3cret"));
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert_eq!(request.header("x-team"), Some("tests"));
    assert!(request.header("user-agent").unwrap().starts_with("superstep-agent/"));
    assert_eq!(
        request.body,
        json!({
            "model": "test-model", "stream": false,
            "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "why? ü 🦀"}],
            "tools": [{"type": "function", "function": {
                "name": "clock", "description": "returns the time",
                "parameters": {"type": "object", "properties": {"zone": {"type": "string"}}},
            }}],
            "tool_choice": "required", "temperature": 0.5, "max_tokens": 7, "seed": 3,
        })
    );
}

#[tokio::test]
async fn no_key_sends_no_authorization_header() {
    let server = Server::start([says("Because.")]);
    let model = OpenAiModel::builder("test-model").endpoint(server.url()).build().unwrap();
    model.complete(&why()).await.unwrap();
    let request = server.only_request();
    let known = ["accept", "content-length", "content-type", "host", "user-agent"];
    let mut headers: Vec<_> = request.headers.iter().map(|(name, _)| name.as_str()).collect();
    headers.sort_unstable();
    assert_eq!(headers, known, "{request:?}");
}

#[tokio::test]
async fn reply_has_metadata_and_usage() {
    let server = Server::start([says("Because.")]);
    let reply = model(&server).complete(&why()).await.unwrap();
    assert_eq!(reply.id, None, "the state assigns the id");
    assert_eq!(reply.response_metadata["model_name"], "test-model-2");
    assert_eq!(reply.response_metadata["finish_reason"], "stop");
    assert_eq!(reply.response_metadata["id"], "chatcmpl-1");
    let usage = reply.usage.unwrap();
    let Usage { input_tokens, output_tokens, total_tokens, .. } = usage;
    assert_eq!((input_tokens, output_tokens, total_tokens), (9, 12, 21));
    assert_eq!(usage.extra["input_token_details"], json!({"cache_read": 4}));
    assert_eq!(usage.extra["output_token_details"], json!({"reasoning": 5}));
}

#[tokio::test]
async fn calls_and_results_can_be_sent_back() {
    let call = |id: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": "clock", "arguments": arguments}});
    let calls = json!([call("a", r#"{"zone": "utc"}"#), call("b", "{\"zone\": ")]);
    let message = json!({"role": "assistant", "content": null, "refusal": null, "annotations": [], "tool_calls": calls});
    let server = strict(Answer::json(200, &reply(message, "tool_calls")));
    let model = model(&server);

    let first = model.complete(&why().tools([clock()])).await.unwrap();
    assert_eq!(first.tool_calls[0].args["zone"], "utc");
    assert_eq!(
        (first.invalid_tool_calls[0].id.as_str(), first.invalid_tool_calls[0].args.as_str()),
        ("b", "{\"zone\": ")
    );
    let answers = [("a", "12:00"), ("b", "invalid arguments")].map(|(id, text)| Message::tool(id, text));
    let history = [Message::human("why?"), first.into()].into_iter().chain(answers);
    model.complete(&ChatRequest::new(history)).await.unwrap();

    let sent = &server.requests()[1].body["messages"];
    assert_eq!(
        sent[1]["tool_calls"][0]["function"],
        json!({"name": "clock", "arguments": r#"{"zone":"utc"}"#})
    );
    assert_eq!(sent[1]["tool_calls"][1]["function"], json!({"name": "clock", "arguments": "{\"zone\": "}));
}

#[tokio::test]
async fn model_handles_concurrent_requests() {
    let server = Server::answering(|request| says(request.body["messages"][0]["content"].as_str().unwrap()));
    let model = std::sync::Arc::new(model(&server));
    let tasks: Vec<_> = (0..20)
        .map(|number| {
            let model = std::sync::Arc::clone(&model);
            tokio::spawn(async move {
                let reply = model.complete(&ChatRequest::new([number.to_string()])).await.unwrap();
                assert_eq!(reply.content.text(), number.to_string());
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
}
