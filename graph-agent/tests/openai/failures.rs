//! Failures of an endpoint: errors and retries.

use std::error::Error as _;
use std::net::TcpListener;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use superstep_agent::{ChatModel as _, ModelError, OpenAiModel};

use crate::complete::{reply, says};
use crate::server::{Answer, Server};
use crate::{builder, model, streamed, why};

/// Returns an error and its causes as a log would show them.
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
async fn refusal_has_status_and_reason_for_any_body() {
    let page = "<html><h1>502 Bad Gateway</h1></html>";
    for (status, body, reason) in [
        (400, json!({"error": {"message": "bad", "type": "invalid_request_error", "param": null, "code": null}}).to_string(), "bad"),
        (401, json!({"error": {"message": "bad key: s3cret!"}}).to_string(), "bad key: ***!"),
        (404, json!({"error": {"message": "no such model", "code": 404}}).to_string(), "no such model"),
        (404, json!({"error": "model not found"}).to_string(), "model not found"),
        (422, json!({"detail": "n must be 1"}).to_string(), "n must be 1"),
        (400, json!({"object": "error", "message": "too long", "code": 40303}).to_string(), "too long"),
        (413, "too large\n".to_owned(), "too large"),
        (403, String::new(), "no reason given"),
        (500, page.to_owned(), page),
        (503, json!({"error": {"message": "later"}}).to_string(), "later"),
        (429, "slow down".to_owned(), "slow down"),
    ] {
        for stream in [false, true] {
            let server = Server::start([Answer::text(status, "text/plain", &body)]);
            let model = builder(&server).max_retries(0).build().unwrap();
            let reply = if stream { streamed(&model, &why()).await } else { model.complete(&why()).await };
            let error = reply.unwrap_err();
            assert_eq!(error.is_transient(), matches!(status, 429 | 500..), "{error}");
            let ModelError::Refused { model, status: had, message, .. } = &error else { panic!("{error:?}") };
            assert_eq!((model.as_str(), *had, message.as_str()), ("test-model", status, reason));
            assert!(!shown(&error).contains("s3cret"), "{error:?}");
            server.only_request();
        }
    }
}

#[tokio::test]
async fn header_values_are_not_shown() {
    let page = "no access for s3cret, azure-k3y or bearer-t0ken (Bearer bearer-t0ken) in eu";
    let moved = Answer::text(307, "text/plain", "").header("location", "http://localhost/?key=azure-k3y");
    let error = json!({"error": {"message": page}});
    for answer in [
        Answer::text(401, "text/plain", page),
        Answer::json(400, &error),
        Answer::json(200, &error),
        Answer::stream(&format!("data: {error}\n\n")),
        moved,
    ] {
        let server = Server::start([answer]);
        let builder = builder(&server)
            .header("api-key", "azure-k3y")
            .header("X-Api-Key", "azure-k3y")
            .header("authorization", "Bearer bearer-t0ken")
            .header("x-region", "eu");
        let model = builder.clone().max_retries(0).build().unwrap();
        for error in [model.complete(&why()).await.unwrap_err(), streamed(&model, &why()).await.unwrap_err()]
        {
            let shown = shown(&error) + &format!("{builder:?} {model:?}");
            for secret in ["s3cret", "azure-k3y", "bearer-t0ken"] {
                assert!(!shown.contains(secret), "{shown}");
            }
        }
    }
}

#[tokio::test]
async fn refusal_has_the_requested_wait() {
    for (wait, expected) in [("3600", Some(3600)), ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0)), ("soon", None)]
    {
        let server = Server::start([slower(wait)]);
        let model = builder(&server).max_retries(0).build().unwrap();
        for error in [model.complete(&why()).await.unwrap_err(), streamed(&model, &why()).await.unwrap_err()]
        {
            assert_eq!(error.retry_after(), expected.map(Duration::from_secs), "{error:?}");
        }
    }
    let server = Server::start([Answer::text(400, "text/plain", "bad")]);
    assert_eq!(model(&server).complete(&why()).await.unwrap_err().retry_after(), None);
}

#[tokio::test]
async fn long_reason_is_truncated() {
    let server = Server::start([Answer::text(400, "text/plain", &"ü".repeat(100_000))]);
    let error = model(&server).complete(&why()).await.unwrap_err().to_string();
    assert!(error.chars().count() < 600 && error.contains("ü … ü"), "{error}");
}

#[tokio::test]
async fn large_refusal_does_not_depend_on_packet_boundaries() {
    let large = json!({"error": {"message": "bad", "filler": "ü".repeat(50_000)}}).to_string();
    let mut messages = Vec::new();
    for bytes in [1000, 65_000, 1_000_000] {
        let server = Server::start([Answer::text(400, "text/plain", &large).split(bytes)]);
        messages.push(model(&server).complete(&why()).await.unwrap_err().to_string());
    }
    assert!(messages.iter().all(|message| *message == messages[0]), "{messages:?}");
}

#[tokio::test]
async fn secret_at_the_end_of_a_truncated_refusal_is_not_shown() {
    for length in 1..=6 {
        // 64 KiB of a refusal are read.
        let start = "a".repeat(64 * 1024 - length);
        let server = Server::start([Answer::text(400, "text/plain", &format!("{start}s3cret"))]);
        let error = shown(&model(&server).complete(&why()).await.unwrap_err());
        assert!(!error.contains("s3cr"), "{length} bytes of the key");
    }
}

fn slower(wait: &str) -> Answer {
    Answer::json(429, &json!({"error": {"message": "slower", "type": "requests"}}))
        .header("retry-after", wait)
}

#[tokio::test]
async fn temporary_refusal_is_retried() {
    for stream in [false, true] {
        let busy = Answer::text(503, "text/plain", "busy").header("retry-after-ms", "1");
        let success = if stream {
            Answer::events(&[
                json!({"choices": [{"delta": {"content": "Because."}, "finish_reason": "stop"}]}),
            ])
        } else {
            says("Because.")
        };
        let server = Server::start([slower("0"), busy, success]);
        let model = model(&server);
        let reply = if stream { streamed(&model, &why()).await } else { model.complete(&why()).await };
        assert_eq!(reply.unwrap().content, "Because.");
        let requests = server.requests();
        assert_eq!(requests.len(), 3);
        assert!(requests.windows(2).all(|pair| pair[0].line == pair[1].line && pair[0].body == pair[1].body));
    }
}

#[tokio::test]
async fn retries_are_limited() {
    for retries in [0, 1, 4] {
        let server = Server::start([slower("0")]);
        let error =
            builder(&server).max_retries(retries).build().unwrap().complete(&why()).await.unwrap_err();
        assert!(matches!(error, ModelError::Refused { status: 429, .. }) && error.is_transient());
        assert_eq!(server.requests().len(), retries as usize + 1);
    }
}

#[tokio::test]
async fn long_waits_quotas_and_permanent_refusals_are_not_retried() {
    let quota = Answer::json(429, &json!({"error": {"message": "pay first", "type": "insufficient_quota"}}));
    let error_of = |answer: Answer| async move {
        let server = Server::start([answer]);
        let start = Instant::now();
        let error = model(&server).complete(&why()).await.unwrap_err();
        assert!(start.elapsed() < Duration::from_secs(30));
        server.only_request();
        error
    };
    assert!(error_of(slower("3600")).await.is_transient(), "later, but not now");
    let quota = error_of(quota).await;
    assert!(matches!(quota, ModelError::QuotaExceeded { .. }) && !quota.is_transient(), "{quota:?}");
    assert!(!error_of(Answer::text(400, "text/plain", "bad")).await.is_transient());
    error_of(Answer::text(501, "text/plain", "not implemented")).await;
}

#[tokio::test]
async fn redirect_is_not_followed() {
    let elsewhere = Server::start([says("I have your key now.")]);
    let moved = Answer::text(307, "text/plain", "").header("location", &elsewhere.url());
    let server = Server::start([moved]);
    let error = model(&server).complete(&why()).await.unwrap_err();
    let expected = format!(
        "model `test-model` refused the request with status 307: redirects to {} are not followed",
        elsewhere.url()
    );
    assert_eq!(error.to_string(), expected);
    assert!(elsewhere.requests().is_empty());
}

#[tokio::test]
async fn closed_port_is_unreachable() {
    // Bound and dropped: the port is free, and nothing listens on it.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let model = OpenAiModel::builder("m")
        .endpoint(format!("http://127.0.0.1:{port}/v1"))
        .key("s3cret")
        .max_retries(1);
    let model = model.build().unwrap();
    for error in [model.complete(&why()).await.unwrap_err(), streamed(&model, &why()).await.unwrap_err()] {
        assert!(matches!(error, ModelError::Unreachable { .. }) && error.is_transient(), "{error:?}");
        assert!(!shown(&error).contains("s3cret"));
    }
}

#[tokio::test]
async fn timeout_is_not_retried() {
    for answer in [Answer::stream("").silent(0), says("Because.").split(5).silent(2)] {
        let server = Server::start([answer]);
        let model = builder(&server).timeout(Duration::from_millis(300)).build().unwrap();
        let error = model.complete(&why()).await.unwrap_err();
        assert!(matches!(error, ModelError::Unreachable { .. }), "{error:?}");
        server.only_request();
    }
}

#[tokio::test]
async fn reply_that_is_cut_off_is_unreachable() {
    for answer in [says("Because.").split(50).cut(2), says("Because.").split(50).closed(2)] {
        let server = Server::start([answer]);
        let error = model(&server).complete(&why()).await.unwrap_err();
        assert!(matches!(error, ModelError::Unreachable { .. }) && error.is_transient(), "{error:?}");
        server.only_request();
    }
}

#[tokio::test]
async fn invalid_reply_is_not_quoted() {
    let success = |body: Value| Answer::json(200, &body);
    for answer in [
        Answer::text(200, "text/html", "<html>our secret</html>"),
        Answer::text(200, "application/json", "{\"our secret\"]"),
        success(json!({"id": "our secret", "choices": []})),
        success(json!(["our secret"])),
        success(reply(json!("our secret"), "stop")),
        success(reply(json!({"role": "assistant", "content": 7, "name": "our secret"}), "stop")),
    ] {
        let server = Server::start([answer]);
        let error = model(&server).complete(&why()).await.unwrap_err();
        assert!(matches!(error, ModelError::NoReply { .. }) && !error.is_transient(), "{error:?}");
        assert!(!shown(&error).contains("our secret"), "{}", shown(&error));
    }
}

#[tokio::test]
async fn error_object_instead_of_a_reply_is_a_refusal() {
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
async fn invalid_request_is_not_sent() {
    let server = Server::start([says("Because.")]);
    let model = model(&server);
    let request = why().tool_choice(superstep_agent::ToolChoice::Required);
    for error in [model.complete(&request).await.unwrap_err(), streamed(&model, &request).await.unwrap_err()]
    {
        assert!(matches!(error, ModelError::InvalidRequest { .. }), "{error:?}");
    }
    assert!(server.requests().is_empty());
}
