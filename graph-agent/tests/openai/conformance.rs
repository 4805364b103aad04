//! The conformance suite for models, run on `OpenAiModel`.

use std::future::poll_fn;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use superstep::messages::{AiMessage, Block, Content, InvalidToolCall, MessageChunk, ToolCall, Usage};
use superstep_agent::conformance::{Answer as Expected, Delivery, TestModel, TestProvider};
use superstep_agent::{ChatModel as _, ScriptedModel};
use tokio::sync::Notify;

use crate::server::{Answer, Server};
use crate::{TIMEOUT, builder, why};

struct OpenAi;

impl TestProvider for OpenAi {
    async fn start(&self, expected: Expected) -> Option<TestModel> {
        let complete = complete(&expected);
        let streamed = streamed(&expected).await;
        let received = Arc::new(Notify::new());
        let seen = Arc::clone(&received);
        let server = Server::answering(move |request| {
            seen.notify_one();
            if request.body["stream"] == true { streamed.clone() } else { complete.clone() }
        });
        let model = builder(&server).max_retries(0).build().unwrap();
        let received = async move { tokio::time::timeout(TIMEOUT, received.notified()).await.is_ok() };
        let disconnected =
            async move { tokio::task::spawn_blocking(move || server.wait_for_disconnect()).await.is_ok() };
        Some(TestModel::new(Arc::new(model)).connection(received, disconnected))
    }
}

fn block_on<T>(case: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap().block_on(case)
}

superstep_agent::model_conformance_tests!(OpenAi, run = block_on);

fn delivered(answer: Answer, delivery: Delivery, half: usize, beginning: usize) -> Answer {
    match delivery {
        Delivery::Packets(bytes) => answer.split(bytes),
        Delivery::CutOff => answer.closed(half),
        Delivery::Silence => answer.silent(beginning),
        Delivery::Refusal { retry_after } => Answer::text(429, "text/plain", "slower")
            .header("retry-after", &retry_after.as_secs().to_string()),
        _ => answer,
    }
}

fn complete(expected: &Expected) -> Answer {
    let reply = &expected.reply;
    let mut message = json!({"role": "assistant", "refusal": null, "annotations": []});
    let (content, reasoning) = content(reply);
    message["content"] = content;
    if let Some(reasoning) = reasoning {
        message["reasoning_content"] = reasoning.into();
    }
    let calls = reply.tool_calls.iter().map(|ToolCall { id, name, args, extra, .. }| {
        call(id, name, &Value::Object(args.clone()).to_string(), extra)
    });
    let invalid = reply.invalid_tool_calls.iter();
    let invalid = invalid.map(|InvalidToolCall { id, name, args, extra, .. }| call(id, name, args, extra));
    let calls: Vec<Value> = calls.chain(invalid).collect();
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    let mut whole = json!({"id": "1", "model": "m", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]});
    if let Some(usage) = &reply.usage {
        whole["usage"] = self::usage(usage);
    }
    let answer = Answer::json(200, &whole);
    let length = whole.to_string().len();
    match expected.delivery {
        // One byte is one part.
        Delivery::CutOff | Delivery::Silence => {
            delivered(answer.split(1), expected.delivery, length / 2, length / 2)
        }
        delivery => delivered(answer, delivery, 0, 0),
    }
}

/// Returns the content, and the reasoning if the blocks are reasoning and text without other fields.
fn content(reply: &AiMessage) -> (Value, Option<String>) {
    match &reply.content {
        Content::Text(text) => (text.as_str().into(), None),
        Content::Blocks(blocks) => match &blocks[..] {
            [Block::Reasoning(thought), Block::Text(text)] if thought.signature.is_none() => {
                (text.text.as_str().into(), Some(thought.text.clone()))
            }
            blocks => (blocks.iter().map(Block::to_json).collect(), None),
        },
    }
}

fn call(id: &str, name: &str, args: &str, extra: &Map<String, Value>) -> Value {
    let mut call = json!({"id": id, "function": {"name": name, "arguments": args}});
    call.as_object_mut().unwrap().extend(extra.clone());
    call["type"] = "function".into();
    call
}

fn usage(usage: &Usage) -> Value {
    let mut written = json!({"prompt_tokens": usage.input_tokens, "completion_tokens": usage.output_tokens, "total_tokens": usage.total_tokens});
    if let Some(read) = usage.extra.get("input_token_details") {
        written["prompt_tokens_details"] = json!({"cached_tokens": read["cache_read"]});
    }
    if let Some(details) = usage.extra.get("output_token_details") {
        written["completion_tokens_details"] = json!({"reasoning_tokens": details["reasoning"]});
    }
    written
}

/// Streams the pieces of the scripted model.
async fn streamed(expected: &Expected) -> Answer {
    let mut events = vec![delta(json!({"role": "assistant", "content": "", "refusal": null}))];
    // Content in parts has no empty string.
    let is_list = content(&expected.reply).0.is_array();
    for chunk in pieces(&expected.reply).await {
        events.extend(event(&chunk, is_list));
        if expected.delivery == Delivery::EmptyPieces {
            events.push(delta(json!({"content": "", "reasoning_content": null})));
            events.push(delta(json!({"tool_calls": [], "content": null})));
            events.push(delta(json!({})));
            events.push(json!({"id": "1", "model": "m", "choices": []}));
        }
    }
    let beginning = 3;
    let half = events.len() / 2 + 1;
    events.push(
        json!({"id": "1", "model": "m", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}),
    );
    if let Some(usage) = &expected.reply.usage {
        events.push(json!({"id": "1", "model": "m", "choices": [], "usage": self::usage(usage)}));
    }
    delivered(Answer::events(&events), expected.delivery, half, beginning)
}

async fn pieces(reply: &AiMessage) -> Vec<MessageChunk> {
    let model = ScriptedModel::new([reply.clone()]);
    let request = why();
    let mut stream = model.stream(&request);
    let mut pieces = Vec::new();
    while let Some(piece) = poll_fn(|cx| stream.as_mut().poll_next(cx)).await {
        pieces.push(piece.unwrap());
    }
    pieces
}

fn delta(delta: Value) -> Value {
    json!({"id": "1", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn event(chunk: &MessageChunk, is_list: bool) -> Option<Value> {
    let mut fields = Map::new();
    if is_list {
        let parts: Vec<Value> = chunk.blocks.iter().map(|piece| piece.block.to_json()).collect();
        if !parts.is_empty() {
            fields.insert("content".to_owned(), parts.into());
        }
    } else {
        for (key, text) in [("content", &chunk.text), ("reasoning_content", &chunk.reasoning)] {
            if !text.is_empty() {
                fields.insert(key.to_owned(), text.as_str().into());
            }
        }
    }
    let calls = chunk.calls.iter().map(|piece| {
        let mut call = Map::from_iter([("index".to_owned(), piece.index.into())]);
        if let Some(id) = &piece.id {
            call.insert("id".to_owned(), id.as_str().into());
            call.extend(piece.extra.clone());
            call.insert("type".to_owned(), "function".into());
        }
        let mut function = json!({"arguments": piece.args});
        if let Some(name) = &piece.name {
            function["name"] = name.as_str().into();
        }
        call.insert("function".to_owned(), function);
        Value::Object(call)
    });
    let calls: Vec<Value> = calls.collect();
    if !calls.is_empty() {
        fields.insert("tool_calls".to_owned(), calls.into());
    }
    (!fields.is_empty()).then(|| delta(fields.into()))
}
