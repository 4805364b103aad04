//! Every way in which an endpoint can fail is an error that says whether to ask again.

use std::error::Error as _;
use std::net::TcpListener;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use superstep_agent::{ChatModel as _, ModelError, OpenAiModel};

use crate::complete::{reply, says};
use crate::server::{Answer, Server};
use crate::{builder, model, streamed, why};

/// An error and its causes, as a log would show them.
fn shown(error: &ModelError) -> String {
    let mut shown = format!("{error:?} {error}");
    let mut cause = error.source();
    while let Some(error) = cause {
        shown += &format!(" {error}");
        cause = error.source();
    }
    shown
}

#[tokio::test]
async fn a_refusal_has_its_status_and_reason_whatever_its_body_is() {
    let page = "<html><h1>502 Bad Gateway</h1></html>";
    for (status, body, reason) in [
        (400, json!({"error": {"message": "bad", "type": "invalid_request_error", "param": null, "code": null}}).to_string(), "bad"),
        (401, json!({"error": {"message": "bad key: s3cret!"}}).to_string(), "bad key: ***!"),
        (404, json!({"error": {"message": "no such model", "code": 404}}).to_string(), "no such model"),
        (404, json!({"error": "model not found"}).to_string(), "model not found"),
        (422, json!({"detail": "n must be 1"}).to_string(), "n must be 1"),
        (400, json!({"object": "error", "message": "too long", "code": 40303}).to_string(), "too long"),
        (413, "too large\n".to_owned(), "too large"),
        (403, String::new(), "it does not say why"),
        (500, page.to_owned(), page),
        (503, json!({"error": {"message": "later"}}).to_string(), "later"),
        (429, "slow down".to_owned(), "slow down"),
    ] {
        for stream in [false, true] {
            let server = Server::start([Answer::text(status, "text/plain", &body)]);
            let model = builder(&server).retries(0).build().unwrap();
            let asked = if stream { streamed(&model, &why()).await } else { model.complete(&why()).await };
            let error = asked.unwrap_err();
            assert_eq!(error.is_transient(), matches!(status, 429 | 500..), "{error}");
            let ModelError::Refused { model, status: had, message } = &error else { panic!("{error:?}") };
            assert_eq!((model.as_str(), *had, message.as_str()), ("test-model", status, reason));
            assert!(!shown(&error).contains("s3cret"), "{error:?}");
            server.only();
        }
    }
}

#[tokio::test]
async fn a_long_reason_is_cut() {
    let server = Server::start([Answer::text(400, "text/plain", &"ü".repeat(100_000))]);
    let error = model(&server).complete(&why()).await.unwrap_err().to_string();
    assert!(error.chars().count() < 600 && error.ends_with("ü…"), "{error}");
}

fn slower(wait: &str) -> Answer {
    Answer::json(429, &json!({"error": {"message": "slower", "type": "requests"}}))
        .header("retry-after", wait)
}

#[tokio::test]
async fn what_is_refused_for_now_is_asked_again() {
    for stream in [false, true] {
        let busy = Answer::text(503, "text/plain", "busy").header("retry-after-ms", "1");
        let then = if stream {
            Answer::events(&[
                json!({"choices": [{"delta": {"content": "Because."}, "finish_reason": "stop"}]}),
            ])
        } else {
            says("Because.")
        };
        let server = Server::start([slower("0"), busy, then]);
        let model = model(&server);
        let asked = if stream { streamed(&model, &why()).await } else { model.complete(&why()).await };
        assert_eq!(asked.unwrap().content, "Because.");
        let seen = server.seen();
        assert_eq!(seen.len(), 3);
        assert!(seen.iter().all(|seen| seen.body == seen.body && seen.line == seen.line));
        assert!(seen.windows(2).all(|pair| pair[0].body == pair[1].body), "the same each time");
    }
}

#[tokio::test]
async fn how_often_to_ask_again_is_for_the_caller_to_say() {
    for retries in [0, 1, 4] {
        let server = Server::start([slower("0")]);
        let error = builder(&server).retries(retries).build().unwrap().complete(&why()).await.unwrap_err();
        assert!(matches!(error, ModelError::Refused { status: 429, .. }) && error.is_transient());
        assert_eq!(server.seen().len(), retries as usize + 1);
    }
}

#[tokio::test]
async fn nobody_waits_for_an_hour_for_a_quota_or_for_what_is_refused_for_good() {
    let quota = Answer::json(429, &json!({"error": {"message": "pay first", "type": "insufficient_quota"}}));
    let asked = |answer: Answer| async move {
        let server = Server::start([answer]);
        let begun = Instant::now();
        let error = model(&server).complete(&why()).await.unwrap_err();
        assert!(begun.elapsed() < Duration::from_secs(30));
        server.only();
        error
    };
    assert!(asked(slower("3600")).await.is_transient(), "later, but not now");
    let quota = asked(quota).await;
    assert!(matches!(quota, ModelError::QuotaExceeded { .. }) && !quota.is_transient(), "{quota:?}");
    assert!(!asked(Answer::text(400, "text/plain", "bad")).await.is_transient());
    asked(Answer::text(501, "text/plain", "never heard of it")).await;
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = Server::start([says("I have your key now.")]);
    let moved = Answer::text(307, "text/plain", "").header("location", &elsewhere.url());
    let server = Server::start([moved]);
    let error = model(&server).complete(&why()).await.unwrap_err();
    let expected = format!("model `test-model` has refused with status 307: moved to {}", elsewhere.url());
    assert_eq!(error.to_string(), expected);
    assert!(elsewhere.seen().is_empty());
}

#[tokio::test]
async fn nobody_there_is_unreachable() {
    // Bound and dropped: the port is free, and nobody listens.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let model =
        OpenAiModel::builder("m").endpoint(format!("http://127.0.0.1:{port}/v1")).key("s3cret").retries(1);
    let model = model.build().unwrap();
    for error in [model.complete(&why()).await.unwrap_err(), streamed(&model, &why()).await.unwrap_err()] {
        assert!(matches!(error, ModelError::Unreachable { .. }) && error.is_transient(), "{error:?}");
        assert!(!shown(&error).contains("s3cret"));
    }
}

#[tokio::test]
async fn silence_has_an_end_and_is_not_asked_again() {
    for answer in [Answer::stream("").silent(0), says("Because.").split(5).silent(2)] {
        let server = Server::start([answer]);
        let model = builder(&server).timeout(Duration::from_millis(300)).build().unwrap();
        let error = model.complete(&why()).await.unwrap_err();
        assert!(matches!(error, ModelError::Unreachable { .. }), "{error:?}");
        server.only();
    }
}

#[tokio::test]
async fn a_reply_that_breaks_off_is_unreachable() {
    for answer in [says("Because.").split(50).cut(2), says("Because.").split(50).closed(2)] {
        let server = Server::start([answer]);
        let error = model(&server).complete(&why()).await.unwrap_err();
        assert!(matches!(error, ModelError::Unreachable { .. }) && error.is_transient(), "{error:?}");
        server.only();
    }
}

#[tokio::test]
async fn what_is_no_reply_is_said_without_repeating_it() {
    let told = |body: Value| Answer::json(200, &body);
    for answer in [
        Answer::text(200, "text/html", "<html>our secret</html>"),
        Answer::text(200, "application/json", "{\"our secret\"]"),
        told(json!({"id": "our secret", "choices": []})),
        told(json!(["our secret"])),
        told(reply(json!("our secret"), "stop")),
        told(reply(json!({"role": "assistant", "content": 7, "name": "our secret"}), "stop")),
    ] {
        let server = Server::start([answer]);
        let error = model(&server).complete(&why()).await.unwrap_err();
        assert!(matches!(error, ModelError::NoReply { .. }) && !error.is_transient(), "{error:?}");
        assert!(!shown(&error).contains("our secret"), "{}", shown(&error));
    }
}

#[tokio::test]
async fn an_error_in_place_of_a_reply_is_a_refusal() {
    for (error, expected) in [
        (json!({"message": "no provider has room: s3cret", "code": 502}), 502),
        (json!({"message": "slower", "code": "rate_limit_exceeded"}), 429),
        (json!({"message": "what?"}), 500),
    ] {
        let server = Server::start([Answer::json(200, &json!({"error": error}))]);
        let error = model(&server).complete(&why()).await.unwrap_err();
        assert!(matches!(error, ModelError::Refused { status, .. } if status == expected), "{error:?}");
        assert!(!shown(&error).contains("s3cret"));
    }
}

#[tokio::test]
async fn a_request_that_cannot_be_made_is_not_sent() {
    let server = Server::start([says("Because.")]);
    let model = model(&server);
    let request = why().tool_choice(superstep_agent::ToolChoice::Required);
    for error in [model.complete(&request).await.unwrap_err(), streamed(&model, &request).await.unwrap_err()]
    {
        assert!(matches!(error, ModelError::Request { .. }), "{error:?}");
    }
    assert!(server.seen().is_empty());
}
