//! Streamed replies.

use std::future::poll_fn;
use std::time::Duration;

use serde_json::{Value, json};
use superstep::messages::Content;
use superstep_agent::{ChatModel as _, ModelError};

use crate::server::{Answer, Server};
use crate::{builder, chunks, model, streamed, why};

fn chunk(delta: Value) -> Value {
    json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "test-model-2",
        "choices": [{"index": 0, "delta": delta, "finish_reason": null}], "usage": null})
}

fn text(text: &str) -> Value {
    chunk(json!({"content": text}))
}

fn stop(reason: &str) -> Value {
    json!({"id": "chatcmpl-1", "model": "test-model-2", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

fn usage() -> Value {
    json!({"id": "chatcmpl-1", "model": "test-model-2", "choices": [],
        "usage": {"prompt_tokens": 9, "completion_tokens": 12, "total_tokens": 21}})
}

/// The chunks of `GREETING`.
fn greeting() -> Vec<Value> {
    let begin = chunk(json!({"role": "assistant", "content": "", "refusal": null}));
    vec![begin, text("Schöne "), text("Grüße "), text("🦀"), text("!"), stop("stop"), usage()]
}

const GREETING: &str = "Schöne Grüße 🦀!";

#[tokio::test]
async fn reply_arrives_in_the_chunks_of_the_server() {
    let server = Server::start([Answer::events(&greeting())]);
    let (chunks, end) = chunks(&model(&server), &why()).await;
    end.unwrap();
    let texts: Vec<_> = chunks.iter().map(|chunk| chunk.text.as_str()).collect();
    assert_eq!(texts, ["", "Schöne ", "Grüße ", "🦀", "!", "", ""]);

    let request = server.only_request();
    assert_eq!(request.line, "POST /v1/chat/completions HTTP/1.1");
    assert_eq!(request.header("authorization"), Some("Bearer s3cret"));
    assert_eq!(request.body["stream"], true);
    assert_eq!(request.body["stream_options"], json!({"include_usage": true}));
}

#[tokio::test]
async fn reply_does_not_depend_on_packet_boundaries() {
    // In the middle of lines, of field names, of multi-byte characters, and between two line ends.
    for bytes in [1, 2, 3, 5, 7, 64, 100_000] {
        let server = Server::start([Answer::events(&greeting()).split(bytes)]);
        let reply = streamed(&model(&server), &why()).await.unwrap();
        assert_eq!(reply.content, GREETING, "in parts of {bytes} bytes");
        assert_eq!(reply.usage.unwrap().total_tokens, 21);
        assert_eq!(reply.response_metadata["finish_reason"], "stop");
        assert_eq!(reply.response_metadata["model_name"], "test-model-2");
    }
}

#[tokio::test]
async fn all_forms_of_server_sent_events_are_read() {
    let [a, b, end] = [text("a"), text("b"), stop("stop")];
    let lines = json!({"choices": [{"delta": {"content": "b"}}]}).to_string().replace("[{", "\ndata: [{");
    for stream in [
        format!("data: {a}\r\n\r\ndata: {b}\r\n\r\ndata: {end}\r\n\r\ndata: [DONE]\r\n\r\n"),
        format!("data:{a}\n\ndata:{b}\n\ndata:{end}\n\ndata:[DONE]\n\n"),
        format!(
            ": hello\n\nevent: message\nid: 1\ndata: {a}\n\n: still here\n\ndata: {lines}\n\nretry: 5\ndata: {end}\n\ndata: [DONE]\n\n"
        ),
        format!(
            "event: keepalive\ndata: \n\ndata: {a}\n\ndata: {b}\n\ndata: {end}\n\ndata: [DONE]\n\ndata: not read\n\n"
        ),
        // Some servers send no `[DONE]`.
        format!("data: {a}\n\ndata: {b}\n\ndata: {end}\n\n"),
    ] {
        for bytes in [1, 100_000] {
            let server = Server::start([Answer::stream(&stream).split(bytes)]);
            assert_eq!(streamed(&model(&server), &why()).await.unwrap().content, "ab", "{stream}");
        }
    }
}

#[tokio::test]
async fn interleaved_calls_are_assembled() {
    let begin = |index: u32, id: &str, name: &str| json!({"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": ""}});
    let more = |index: u32, args: &str| json!({"index": index, "function": {"arguments": args}});
    let calls = |calls: &[Value]| chunk(json!({"tool_calls": calls}));
    let events = [
        text("Let me see."),
        calls(&[begin(0, "a", "clock")]),
        calls(&[begin(1, "b", "add"), more(0, "{\"zone\"")]),
        calls(&[more(1, "{\"x\": 1, "), more(0, ": \"utc\"}")]),
        calls(&[begin(2, "c", "add"), more(2, "{\"x\": ")]),
        calls(&[more(1, "\"y\": 2}")]),
        stop("tool_calls"),
    ];
    let server = Server::start([Answer::events(&events).split(11)]);
    let reply = streamed(&model(&server), &why()).await.unwrap();
    let assembled: Vec<_> = reply
        .tool_calls
        .iter()
        .map(|call| (call.id.as_str(), call.name.as_str(), json!(call.args)))
        .collect();
    assert_eq!(assembled, [("a", "clock", json!({"zone": "utc"})), ("b", "add", json!({"x": 1, "y": 2}))]);
    assert_eq!(reply.invalid_tool_calls[0].args, "{\"x\": ", "it was cut off");
    assert_eq!(reply.content, "Let me see.");
}

#[tokio::test]
async fn reasoning_is_separate_from_the_text() {
    let events = [
        chunk(json!({"reasoning_content": "Hm"})),
        chunk(json!({"reasoning_content": "."})),
        text("Yes."),
        stop("stop"),
    ];
    let server = Server::start([Answer::events(&events)]);
    let reply = streamed(&model(&server), &why()).await.unwrap();
    let Content::Blocks(blocks) = &reply.content else { panic!("{reply:?}") };
    assert_eq!((blocks.len(), reply.content.text().as_ref()), (2, "Yes."));
}

#[tokio::test]
async fn reply_that_is_cut_off_is_an_error() {
    let whole = Answer::events(&greeting());
    for count in 1..5 {
        for answer in [whole.clone().cut(count), whole.clone().closed(count)] {
            let server = Server::start([answer]);
            let (chunks, end) = chunks(&model(&server), &why()).await;
            let error = end.unwrap_err();
            assert!(matches!(error, ModelError::Unreachable { .. }) && error.is_transient(), "{error:?}");
            assert!(chunks.len() <= count);
            assert_eq!(server.requests().len(), 1, "a reply that has begun is not retried");
        }
    }
    // In the middle of a character.
    let middle = text("Schöne").to_string().find('ö').unwrap() + "data: ".len() + 1;
    let server =
        Server::start([Answer::stream(&format!("data: {}\n\n", text("Schöne"))).split(middle).closed(1)]);
    assert!(streamed(&model(&server), &why()).await.unwrap_err().is_transient());
}

#[tokio::test]
async fn stream_that_is_cut_off_in_its_first_chunk_is_unreachable() {
    let stream = "event: keepalive\r\n\r\ndata: {\"choices\"";
    for bytes in [1, 5, 100_000] {
        let server = Server::start([Answer::stream(stream).split(bytes)]);
        let error = streamed(&model(&server), &why()).await.unwrap_err();
        assert!(matches!(error, ModelError::Unreachable { .. }), "{error:?} in parts of {bytes} bytes");
    }
    // Line ends do not begin a chunk.
    for bytes in [1, 5, 100_000] {
        let server = Server::start([Answer::stream("event: keepalive\r\n\r\n\r\n").split(bytes)]);
        let error = streamed(&model(&server), &why()).await.unwrap_err();
        assert!(matches!(error, ModelError::NoReply { .. }), "{error:?} in parts of {bytes} bytes");
    }
}

#[tokio::test]
async fn error_object_ends_the_stream() {
    for (error, expected) in [
        (json!({"message": "too much at once", "type": "server_error", "code": null}), Some(500)),
        (json!({"message": "slower", "type": "rate_limit_error"}), Some(429)),
        (json!({"message": "no more room", "code": 502}), Some(502)),
        (json!({"message": "bad", "type": "invalid_request_error"}), Some(400)),
        (json!("it is broken"), Some(500)),
        (json!({"message": "pay first", "code": "insufficient_quota"}), None),
    ] {
        let events = [text("Good "), json!({"error": error}), text("morning"), stop("stop")];
        let server = Server::start([Answer::events(&events)]);
        let (chunks, end) = chunks(&model(&server), &why()).await;
        assert_eq!(chunks.len(), 1);
        match (end.unwrap_err(), expected) {
            (ModelError::Refused { status, .. }, Some(expected)) => assert_eq!(status, expected),
            (ModelError::QuotaExceeded { .. }, None) => {}
            (other, _) => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn invalid_stream_is_an_error() {
    for (answer, transient) in [
        (Answer::stream("data: not json\n\n"), false),
        (Answer::stream("data: [1]\n\n"), false),
        (Answer::stream("data: [DONE]\n\n"), false),
        (Answer::stream(""), false),
        (Answer::text(200, "text/html", "<html>hello</html>"), false),
    ] {
        let server = Server::start([answer]);
        let error = streamed(&model(&server), &why()).await.unwrap_err();
        assert!(matches!(error, ModelError::NoReply { .. }), "{error:?}");
        assert_eq!(error.is_transient(), transient);
    }
}

#[tokio::test]
async fn chunks_arrive_before_a_timeout_ends_the_stream() {
    let server = Server::start([Answer::events(&greeting()).silent(3)]);
    let model = builder(&server).timeout(Duration::from_millis(300)).build().unwrap();
    let (chunks, end) = chunks(&model, &why()).await;
    let text: String = chunks.iter().map(|chunk| chunk.text.as_str()).collect();
    assert_eq!(text, "Schöne Grüße ");
    assert!(matches!(end, Err(ModelError::Unreachable { .. })), "{end:?}");
}

#[tokio::test]
async fn dropped_stream_closes_the_connection() {
    let server = Server::start([Answer::events(&greeting()).silent(2)]);
    let model = model(&server);
    let request = why();
    let mut stream = model.stream(&request);
    assert!(server.requests().is_empty(), "the request is sent at the first poll");
    let first = poll_fn(|cx| stream.as_mut().poll_next(cx)).await;
    assert!(first.unwrap().is_ok());
    drop(stream);
    tokio::task::spawn_blocking(move || server.wait_for_disconnect()).await.unwrap();
}
