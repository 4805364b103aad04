//! A reply that is read while it is written.

use std::future::poll_fn;
use std::time::Duration;

use serde_json::{Value, json};
use superstep::messages::Content;
use superstep_agent::{ChatModel as _, ModelError};

use crate::server::{Answer, Server};
use crate::{builder, model, pieces, streamed, why};

fn piece(delta: Value) -> Value {
    json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "test-model-2",
        "choices": [{"index": 0, "delta": delta, "finish_reason": null}], "usage": null})
}

fn text(text: &str) -> Value {
    piece(json!({"content": text}))
}

fn stop(reason: &str) -> Value {
    json!({"id": "chatcmpl-1", "model": "test-model-2", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

fn usage() -> Value {
    json!({"id": "chatcmpl-1", "model": "test-model-2", "choices": [],
        "usage": {"prompt_tokens": 9, "completion_tokens": 12, "total_tokens": 21}})
}

/// "Schöne Grüße 🦀!" in pieces.
fn greeting() -> Vec<Value> {
    let begin = piece(json!({"role": "assistant", "content": "", "refusal": null}));
    vec![begin, text("Schöne "), text("Grüße "), text("🦀"), text("!"), stop("stop"), usage()]
}

const GREETING: &str = "Schöne Grüße 🦀!";

#[tokio::test]
async fn a_reply_comes_in_the_pieces_in_which_it_is_written() {
    let server = Server::start([Answer::events(&greeting())]);
    let (pieces, end) = pieces(&model(&server), &why()).await;
    end.unwrap();
    let texts: Vec<_> = pieces.iter().map(|piece| piece.text.as_str()).collect();
    assert_eq!(texts, ["", "Schöne ", "Grüße ", "🦀", "!", "", ""]);

    let seen = server.only();
    assert_eq!(seen.line, "POST /v1/chat/completions HTTP/1.1");
    assert_eq!(seen.header("authorization"), Some("Bearer s3cret"));
    assert_eq!(seen.body["stream"], true);
    assert_eq!(seen.body["stream_options"], json!({"include_usage": true}));
}

#[tokio::test]
async fn it_does_not_matter_where_the_connection_splits_it() {
    // In the middle of lines, of names of fields, of letters of several bytes, and between the two ends of a line.
    for bytes in [1, 2, 3, 5, 7, 64, 100_000] {
        let server = Server::start([Answer::events(&greeting()).split(bytes)]);
        let reply = streamed(&model(&server), &why()).await.unwrap();
        assert_eq!(reply.content, GREETING, "in pieces of {bytes} bytes");
        assert_eq!(reply.usage.unwrap().total_tokens, 21);
        assert_eq!(reply.response_metadata["finish_reason"], "stop");
        assert_eq!(reply.response_metadata["model_name"], "test-model-2");
    }
}

#[tokio::test]
async fn every_way_of_writing_events_is_read() {
    let [a, b, end] = [text("a"), text("b"), stop("stop")];
    let lines = json!({"choices": [{"delta": {"content": "b"}}]}).to_string().replace("[{", "\ndata: [{");
    for written in [
        format!("data: {a}\r\n\r\ndata: {b}\r\n\r\ndata: {end}\r\n\r\ndata: [DONE]\r\n\r\n"),
        format!("data:{a}\n\ndata:{b}\n\ndata:{end}\n\ndata:[DONE]\n\n"),
        format!(
            ": hello\n\nevent: message\nid: 1\ndata: {a}\n\n: still here\n\ndata: {lines}\n\nretry: 5\ndata: {end}\n\ndata: [DONE]\n\n"
        ),
        format!(
            "event: keepalive\ndata: \n\ndata: {a}\n\ndata: {b}\n\ndata: {end}\n\ndata: [DONE]\n\ndata: not read\n\n"
        ),
        // There are servers that simply end.
        format!("data: {a}\n\ndata: {b}\n\ndata: {end}\n\n"),
    ] {
        for bytes in [1, 100_000] {
            let server = Server::start([Answer::stream(&written).split(bytes)]);
            assert_eq!(streamed(&model(&server), &why()).await.unwrap().content, "ab", "{written}");
        }
    }
}

#[tokio::test]
async fn calls_that_are_written_at_the_same_time_are_put_together() {
    let begin = |index: u32, id: &str, name: &str| json!({"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": ""}});
    let more = |index: u32, args: &str| json!({"index": index, "function": {"arguments": args}});
    let calls = |calls: &[Value]| piece(json!({"tool_calls": calls}));
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
    let called: Vec<_> = reply
        .tool_calls
        .iter()
        .map(|call| (call.id.as_str(), call.name.as_str(), json!(call.args)))
        .collect();
    assert_eq!(called, [("a", "clock", json!({"zone": "utc"})), ("b", "add", json!({"x": 1, "y": 2}))]);
    assert_eq!(reply.invalid_tool_calls[0].args, "{\"x\": ", "it was cut off");
    assert_eq!(reply.content, "Let me see.");
}

#[tokio::test]
async fn a_thought_is_told_apart_from_what_is_said() {
    let events = [
        piece(json!({"reasoning_content": "Hm"})),
        piece(json!({"reasoning_content": "."})),
        text("Yes."),
        stop("stop"),
    ];
    let server = Server::start([Answer::events(&events)]);
    let reply = streamed(&model(&server), &why()).await.unwrap();
    let Content::Blocks(blocks) = &reply.content else { panic!("{reply:?}") };
    assert_eq!((blocks.len(), reply.content.text().as_ref()), (2, "Yes."));
}

#[tokio::test]
async fn a_reply_that_breaks_off_is_an_error_and_never_a_short_reply() {
    let whole = Answer::events(&greeting());
    for count in 1..5 {
        for answer in [whole.clone().cut(count), whole.clone().closed(count)] {
            let server = Server::start([answer]);
            let (pieces, end) = pieces(&model(&server), &why()).await;
            let error = end.unwrap_err();
            assert!(matches!(error, ModelError::Unreachable { .. }) && error.is_transient(), "{error:?}");
            assert!(pieces.len() <= count);
            assert_eq!(server.seen().len(), 1, "what has begun is not asked again");
        }
    }
    // In the middle of a letter.
    let letter = text("Schöne").to_string().find('ö').unwrap() + "data: ".len() + 1;
    let server =
        Server::start([Answer::stream(&format!("data: {}\n\n", text("Schöne"))).split(letter).closed(1)]);
    assert!(streamed(&model(&server), &why()).await.unwrap_err().is_transient());
}

#[tokio::test]
async fn an_error_in_the_middle_of_a_reply_ends_it() {
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
        let (pieces, end) = pieces(&model(&server), &why()).await;
        assert_eq!(pieces.len(), 1);
        match (end.unwrap_err(), expected) {
            (ModelError::Refused { status, .. }, Some(expected)) => assert_eq!(status, expected),
            (ModelError::QuotaExceeded { .. }, None) => {}
            (other, _) => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn what_is_no_stream_is_an_error() {
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
async fn pieces_come_while_the_model_still_writes_and_silence_has_an_end() {
    let server = Server::start([Answer::events(&greeting()).silent(3)]);
    let model = builder(&server).timeout(Duration::from_millis(300)).build().unwrap();
    let (pieces, end) = pieces(&model, &why()).await;
    let texts: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
    assert_eq!(texts, "Schöne Grüße ");
    assert!(matches!(end, Err(ModelError::Unreachable { .. })), "{end:?}");
}

#[tokio::test]
async fn who_stops_listening_ends_the_connection() {
    let server = Server::start([Answer::events(&greeting()).silent(2)]);
    let model = model(&server);
    let request = why();
    let mut stream = model.stream(&request);
    assert!(server.seen().is_empty(), "nothing is asked before somebody waits");
    let first = poll_fn(|cx| stream.as_mut().poll_next(cx)).await;
    assert!(first.unwrap().is_ok());
    drop(stream);
    tokio::task::spawn_blocking(move || server.wait_until_left()).await.unwrap();
}
