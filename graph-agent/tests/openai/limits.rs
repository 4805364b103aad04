//! Replies that are too large, and the cost of large ones.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use superstep_agent::{ChatModel as _, ModelError};

use crate::complete::says;
use crate::server::{Answer, Server};
use crate::{builder, model, streamed, why};

const KIB: usize = 1024;

fn event(text: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": null}]})
}

fn stop() -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
}

fn check(error: &ModelError, setting: &str, limit: usize) {
    assert!(matches!(error, ModelError::ReplyTooLarge { .. }) && !error.is_transient(), "{error:?}");
    let expected = format!(
        "the reply of model `test-model` is too large: it exceeds `{setting}`, which is {limit} bytes: raise it if the model is trusted"
    );
    assert_eq!(error.to_string(), expected);
}

#[tokio::test]
async fn large_complete_reply_is_refused() {
    let large = || says(&"a".repeat(64 * KIB));
    // With and without an announced length. The second server would wait for ever if the client read on.
    for answer in [large(), large().split(KIB).closed(60), large().split(KIB).silent(60)] {
        let server = Server::start([answer]);
        let model = builder(&server).max_reply_size(16 * KIB).build().unwrap();
        check(&model.complete(&why()).await.unwrap_err(), "max_reply_size", 16 * KIB);
        server.only_request();
    }
    let server = Server::start([large()]);
    let reply = builder(&server).max_reply_size(65 * KIB).build().unwrap().complete(&why()).await.unwrap();
    assert_eq!(reply.content.text().len(), 64 * KIB);
}

#[tokio::test]
async fn huge_reply_is_refused_before_it_is_read() {
    let huge = says("Because.").header("content-length", "800000000").closed(0);
    let server = Server::start([huge]);
    check(&model(&server).complete(&why()).await.unwrap_err(), "max_reply_size", 64 * KIB * KIB);
}

#[tokio::test]
async fn large_stream_is_refused() {
    let events: Vec<_> = (0..64).map(|_| event(&"a".repeat(KIB))).chain([stop()]).collect();
    let server = Server::start([Answer::events(&events)]);
    let limited = builder(&server).max_reply_size(16 * KIB).build().unwrap();
    check(&streamed(&limited, &why()).await.unwrap_err(), "max_reply_size", 16 * KIB);
    // A small limit for events does not limit their number.
    let limited = builder(&server).max_event_size(4 * KIB).build().unwrap();
    assert_eq!(streamed(&limited, &why()).await.unwrap().content.text().len(), 64 * KIB);
}

#[tokio::test]
async fn large_event_is_refused_before_it_has_arrived() {
    let event = event(&"a".repeat(64 * KIB));
    let lines = format!("data: {}\n", "a".repeat(99)).repeat(1000);
    for answer in [
        Answer::events(&[event]).split(KIB).silent(60),
        Answer::stream(&lines).split(KIB).silent(60),
        Answer::stream(&format!("id: {}", "a".repeat(64 * KIB))).split(KIB).silent(60),
    ] {
        let server = Server::start([answer]);
        let limited = builder(&server).max_event_size(16 * KIB).build().unwrap();
        check(&streamed(&limited, &why()).await.unwrap_err(), "max_event_size", 16 * KIB);
        tokio::task::spawn_blocking(move || server.wait_for_disconnect()).await.unwrap();
    }
}

#[tokio::test]
async fn cost_of_a_long_line_is_linear() {
    // A reader that starts again at the beginning of the line with each part takes minutes.
    let text = "a".repeat(8 * KIB * KIB);
    let server = Server::start([Answer::events(&[event(&text), stop()]).split(KIB)]);
    let start = Instant::now();
    assert_eq!(streamed(&model(&server), &why()).await.unwrap().content.text().len(), text.len());
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[tokio::test]
async fn limits_do_not_depend_on_packet_boundaries() {
    let line =
        |length: usize| format!("data: {}\n\n", event(&"a".repeat(length - event("").to_string().len() - 6)));
    let end = format!("data: {}\n\ndata: [DONE]\n\n", stop());
    let rest = "data: not read\n\n".repeat(100);
    for (stream, reply, event, expected) in [
        // The first event is too large, or has just the maximum size. Line ends do not count.
        (line(201) + &end, KIB, 200, Err("max_event_size")),
        (line(200) + &line(200) + &end, KIB, 200, Ok(())),
        // The second event is too large.
        (line(100) + &line(201) + &end, KIB, 200, Err("max_event_size")),
        (line(100).replace('\n', "\r\n") + &line(200) + &end, KIB, 200, Ok(())),
        (line(100) + &format!("id: {}\n\n", "a".repeat(200)) + &end, KIB, 200, Err("max_event_size")),
        // The reply ends just within its limit. What follows is not read.
        (line(200) + &end + &rest, 200 + 2 + end.len(), 200, Ok(())),
        (line(200) + &end + &rest, 200 + 1 + end.len(), 200, Err("max_reply_size")),
    ] {
        for bytes in [1, 2, 7, 99, 100_000] {
            let server = Server::start([Answer::stream(&stream).split(bytes)]);
            let model = builder(&server).max_reply_size(reply).max_event_size(event).build().unwrap();
            match (streamed(&model, &why()).await, expected) {
                (Ok(_), Ok(())) => {}
                (Err(error), Err(setting)) => {
                    check(&error, setting, if setting == "max_event_size" { event } else { reply });
                }
                (other, _) => panic!("{other:?} in parts of {bytes} bytes of {stream}"),
            }
        }
    }
}

#[tokio::test]
async fn size_of_an_unreadable_event_is_checked_first() {
    for bytes in [1, 30, 100_000] {
        let mut answer = Answer::stream(&format!("data: {}\n\n", "x".repeat(300))).split(bytes);
        answer = answer.replace(b'x', 0xff);
        let server = Server::start([answer]);
        let model = builder(&server).max_event_size(200).build().unwrap();
        let error = streamed(&model, &why()).await.unwrap_err();
        assert!(matches!(error, ModelError::ReplyTooLarge { .. }), "{error:?} in parts of {bytes} bytes");
    }
}

#[tokio::test]
async fn cost_of_many_parts_is_linear() {
    // A reader that compares each part with all others takes minutes.
    let many = |part: &dyn Fn(usize) -> Value| -> Vec<Value> { (0..150_000).map(part).collect() };
    for delta in [
        json!({"tool_calls": many(&|number| json!({"id": number.to_string(), "function": {"name": "f"}}))}),
        json!({"tool_calls": many(&|number| json!({"index": number, "function": {"name": "f"}}))}),
        json!({"content": many(&|_| json!({"type": "x"}))}),
        json!({"reasoning_details": many(&|number| json!({"index": number}))}),
    ] {
        let choice = json!({"choices": [{"index": 0, "delta": delta, "finish_reason": "stop"}]});
        let server = Server::start([Answer::events(&[choice])]);
        let start = Instant::now();
        streamed(&model(&server), &why()).await.unwrap();
        assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
    }
}
