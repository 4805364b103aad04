use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use serde_json::{Value, json};
use superstep::{END, GraphState, Result, Route, START, StateGraph};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tower::ServiceExt as _;

use super::calls::{Calls, Look, REST};
use super::deliver::{Delivery, deliver};
use super::places::AT_ONCE_EACH;
use crate::Server;
use crate::app::App;
use crate::protocol::{RunId, Timestamp};
use crate::records::WebhookRecord;
use crate::refusing_store::RefusingStore;

#[derive(GraphState, Clone)]
struct Echo {
    #[state(input)]
    text: String,
}

#[derive(Debug, thiserror::Error)]
#[error("boom")]
struct Boom;

#[derive(Route)]
enum Fate {
    #[to(END)]
    Survive,
}

async fn echo(echo: &Echo) -> Result<Fate> {
    if echo.text == "boom" { Err(Boom.into()) } else { Ok(Fate::Survive) }
}

/// A server that sends nothing by itself: the tests call `pass`.
async fn start(store: &RefusingStore, private: bool) -> (Arc<App>, Router) {
    let graph = StateGraph::<Echo>::new().edge(START, echo).node(echo).compile().unwrap();
    let mut server = Server::new().graph("echo", graph).store(store.long_term());
    if private {
        server = server.private_webhooks();
    }
    let started = server.start().await.unwrap();
    started.app().sender.stop();
    (Arc::clone(started.app()), started.router())
}

/// Makes the calls that are due. Returns the time of the next one. `None` if there is none, or if the store could not note a call.
async fn pass(app: &Arc<App>, now: Timestamp) -> Option<Timestamp> {
    let mut calls = Calls::new(Duration::ZERO);
    calls.start_due(app, now, Look::All).await.unwrap();
    let mut noted = true;
    while let Some(one) = calls.next_end().await {
        noted &= one;
    }
    let first = app.records.webhooks(None, 1).next().await.unwrap().first().map(|webhook| webhook.due);
    first.filter(|_| noted)
}

async fn post(routes: &Router, path: &str, body: Value) -> (u16, Value) {
    let request = Request::post(path).body(Body::from(body.to_string())).unwrap();
    let response = routes.clone().oneshot(request).await.unwrap();
    let status = response.status().as_u16();
    let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, serde_json::from_slice(&body).unwrap())
}

/// A place that is called: it responds with the statuses in turn, and passes on what it gets.
async fn receiver(responses: &'static [&'static str]) -> (u16, mpsc::UnboundedReceiver<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, received) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        for response in responses {
            let (mut socket, _) = listener.accept().await.unwrap();
            let mut request = Vec::new();
            let body = loop {
                let mut part = [0; 4_096];
                let count = socket.read(&mut part).await.unwrap();
                request.extend_from_slice(&part[..count]);
                let text = String::from_utf8_lossy(&request).into_owned();
                let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
                let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
                if body.len() == length.parse::<usize>().unwrap() {
                    break body.to_owned();
                }
            };
            sender.send(serde_json::from_str(&body).unwrap()).unwrap();
            let response = format!("HTTP/1.1 {response}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            socket.write_all(response.as_bytes()).await.unwrap();
        }
    });
    (port, received)
}

fn run(text: &str, port: u16) -> Value {
    let webhook = format!("http://127.0.0.1:{port}/done");
    json!({ "assistant_id": "echo", "input": { "text": text }, "webhook": webhook })
}

#[tokio::test]
async fn the_result_of_a_run_is_sent() {
    let (app, routes) = start(&RefusingStore::new(), true).await;
    let (port, mut received) = receiver(&["200 OK", "204 No Content"]).await;
    let (status, values) = post(&routes, "/runs/wait", run("fine", port)).await;
    assert_eq!((status, values), (200, json!({ "text": "fine" })));
    assert_eq!(pass(&app, Timestamp::now()).await, None);
    let result = received.recv().await.unwrap();
    assert_eq!((&result["status"], &result["values"]["text"]), (&json!("success"), &json!("fine")));
    assert!(result["run_id"].is_string() && result["thread_id"].is_string() && result["kwargs"].is_object());

    let (_, thread) = post(&routes, "/threads", json!({})).await;
    let path = format!("/threads/{}/runs/wait", thread["thread_id"].as_str().unwrap());
    post(&routes, &path, run("boom", port)).await;
    assert_eq!(pass(&app, Timestamp::now()).await, None);
    let result = received.recv().await.unwrap();
    assert_eq!((&result["status"], &result["error"]["message"]), (&json!("error"), &json!("boom")));
    assert_eq!(result["thread_id"], thread["thread_id"]);
}

#[tokio::test]
async fn a_failed_call_is_made_again_after_a_restart() {
    let store = RefusingStore::new();
    let (port, mut received) = receiver(&["503 Service Unavailable", "200 OK"]).await;
    let (app, routes) = start(&store, true).await;
    post(&routes, "/runs/wait", run("fine", port)).await;
    let now = Timestamp::now();
    let next = pass(&app, now).await.unwrap();
    assert_eq!(next, now.after(Duration::from_secs(1)));
    let first = received.recv().await.unwrap();
    drop((app, routes));
    let (app, _) = start(&store, true).await;
    assert_eq!(pass(&app, now).await, Some(next), "it is not due yet");
    assert_eq!(pass(&app, next).await, None);
    assert_eq!(received.recv().await.unwrap(), first);
}

#[tokio::test]
async fn a_call_that_cannot_be_noted_is_not_repeated_at_once() {
    let store = RefusingStore::new();
    let (app, routes) = start(&store, true).await;
    let (port, mut received) = receiver(&["200 OK", "200 OK"]).await;
    post(&routes, "/runs/wait", run("fine", port)).await;
    store.refuse("");
    assert_eq!(pass(&app, Timestamp::now()).await, None);
    let first = received.recv().await.unwrap();
    store.accept();
    assert_eq!(pass(&app, Timestamp::now()).await, None);
    assert_eq!(received.recv().await.unwrap(), first, "it is sent at least once");
    assert_eq!(app.records.webhooks(None, 1).next().await.unwrap(), []);
}

#[tokio::test]
async fn a_place_that_is_never_there_is_given_up() {
    let (app, routes) = start(&RefusingStore::new(), true).await;
    let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    post(&routes, "/runs/wait", run("fine", port)).await;
    let mut next = Some(Timestamp::now());
    let mut calls = 0;
    while let Some(now) = next {
        next = pass(&app, now).await;
        calls += 1;
    }
    assert_eq!(calls, 7);
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let (inner, mut received) = receiver(&["200 OK"]).await;
    let redirect = format!("307 Temporary Redirect\r\nlocation: http://127.0.0.1:{inner}/");
    let (port, mut redirected) = receiver(Box::leak(Box::new([&*redirect.leak()]))).await;
    let url = format!("http://127.0.0.1:{port}/");
    assert_eq!(deliver(&url, "{}".to_owned(), true).await, Delivery::Refused);
    assert_eq!(redirected.recv().await, Some(json!({})));
    assert!(received.try_recv().is_err());
}

#[tokio::test]
async fn names_of_private_addresses_are_not_called() {
    let (port, mut received) = receiver(&["200 OK", "200 OK"]).await;
    for host in ["localhost", "127.0.0.1", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1", "0"] {
        let url = format!("http://{host}:{port}/");
        assert_eq!(deliver(&url, "{}".to_owned(), false).await, Delivery::Refused, "{url}");
    }
    assert!(received.try_recv().is_err());
    assert_eq!(
        deliver(&format!("http://localhost:{port}/"), "{}".to_owned(), true).await,
        Delivery::Accepted
    );
}

#[tokio::test]
async fn webhooks_that_are_never_called_are_refused() {
    let (app, routes) = start(&RefusingStore::new(), false).await;
    for webhook in [
        "http://localhost/x",
        "http://LOCALHOST./x",
        "https://a.localhost",
        "http://127.0.0.1:8000/x",
        "http://[::1]/x",
        "http://10.0.0.1/",
        "http://169.254.169.254/latest",
        "http://2130706433/",
        "http://0x7f.1/",
        "file:///etc/passwd",
        "ftp://example.com/",
        "example.com",
        "",
        "mailto:ann@example.com",
    ] {
        let body = json!({ "assistant_id": "echo", "input": { "text": "fine" }, "webhook": webhook });
        for path in ["/runs", "/runs/wait", "/runs/stream"] {
            let (status, error) = post(&routes, path, body.clone()).await;
            assert_eq!(status, 422, "{webhook}");
            assert!(error["detail"].as_str().unwrap().contains("`webhook`"), "{error}");
        }
    }
    assert_eq!(app.records.webhooks(None, 1).next().await.unwrap(), []);
}

/// A place that accepts connections and says nothing. It counts them.
async fn silent() -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let count = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&count);
    tokio::spawn(async move {
        let mut open = Vec::new();
        while let Ok((socket, _)) = listener.accept().await {
            open.push(socket);
            counter.fetch_add(1, Ordering::SeqCst);
        }
    });
    (port, count)
}

#[tokio::test]
async fn a_place_that_does_not_respond_does_not_slow_others() {
    let (app, routes) = start(&RefusingStore::new(), true).await;
    let (hanging, connections) = silent().await;
    // More than are read at once.
    for _ in 0..150 {
        post(&routes, "/runs/wait", run("fine", hanging)).await;
    }
    let (port, mut received) = receiver(&["200 OK"]).await;
    let mut other = run("fine", port);
    other["webhook"] = json!(format!("http://localhost:{port}/done"));
    post(&routes, "/runs/wait", other).await;
    let mut calls = Calls::new(Duration::ZERO);
    assert_eq!(calls.start_due(&app, Timestamp::now(), Look::Next).await.unwrap(), None);
    // The cost of a look is paid back by a rest, so it does not multiply with the number of calls that end.
    assert_eq!(calls.rest(), REST * 142);
    assert!(received.recv().await.is_some());
    assert_eq!(calls.next_end().await, Some(true));
    assert_eq!(calls.start_due(&app, Timestamp::now(), Look::Next).await.unwrap(), None);
    assert!(connections.load(Ordering::SeqCst) <= AT_ONCE_EACH);
}

/// Calls `count` webhooks of one host. Returns the number of results that looks have passed over.
async fn passed_over(count: u64) -> u128 {
    let (app, _) = start(&RefusingStore::new(), true).await;
    // Nobody is there.
    let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let now = Timestamp::now();
    let webhook = |n: u64| WebhookRecord {
        run_id: RunId::new(),
        user_id: Some("ann".into()),
        url: format!("http://127.0.0.1:{port}/done"),
        body: json!(n),
        due: now.before(Duration::from_micros(n)),
        attempts: 0,
    };
    for n in 0..count {
        let webhook = webhook(n);
        app.records.replace_webhook(&webhook, Some(&webhook)).await.unwrap();
    }
    let mut calls = Calls::new(Duration::ZERO);
    let (mut called, mut passed) = (0, 0);
    loop {
        calls.start_due(&app, now, Look::Next).await.unwrap();
        passed += calls.rest().as_micros() / REST.as_micros();
        match calls.next_end().await {
            Some(noted) => called += u64::from(noted),
            None => break,
        }
    }
    assert_eq!(called, count);
    let left = app.records.webhooks(None, 1).next().await.unwrap();
    assert_eq!((left[0].attempts, left[0].due > now), (1, true), "each was called once");
    passed
}

#[tokio::test]
async fn calls_of_one_host_pass_over_each_result_once() {
    assert_eq!(passed_over(40).await, 40 - AT_ONCE_EACH as u128);
    assert_eq!(passed_over(80).await, 80 - AT_ONCE_EACH as u128);
}

#[tokio::test]
async fn result_that_is_stored_late_is_found_by_the_next_look_for_new_ones() {
    let (app, routes) = start(&RefusingStore::new(), true).await;
    let (port, mut received) = receiver(&["200 OK", "200 OK"]).await;
    let before = Timestamp::now();
    post(&routes, "/runs/wait", run("fine", port)).await;
    let mut calls = Calls::new(Duration::ZERO);
    calls.start_due(&app, Timestamp::now(), Look::Next).await.unwrap();
    let mut late = json!(received.recv().await.unwrap());
    late["late"] = json!(true);
    let late = WebhookRecord {
        run_id: RunId::new(),
        user_id: None,
        url: format!("http://127.0.0.1:{port}/done"),
        body: late,
        due: before,
        attempts: 0,
    };
    app.records.replace_webhook(&late, Some(&late)).await.unwrap();
    calls.start_due(&app, Timestamp::now(), Look::New).await.unwrap();
    assert_eq!(received.recv().await.unwrap()["late"], true);
}

#[cfg(feature = "tracing")]
#[tokio::test]
async fn calls_are_logged_without_their_addresses() {
    let (log, _guard) = crate::log::recorder::Recorder::start();
    let (port, mut received) = receiver(&["503 Service Unavailable", "200 OK", "404 Not Found"]).await;
    let (app, routes) = start(&RefusingStore::new(), true).await;
    post(&routes, "/runs/wait", run("fine", port)).await;
    let next = pass(&app, Timestamp::now()).await.unwrap();
    assert_eq!(pass(&app, next).await, None);
    post(&routes, "/runs/wait", run("fine", port)).await;
    pass(&app, Timestamp::now()).await;
    received.recv().await.unwrap();
    assert_eq!(
        log.lines(&["webhook."], &["attempt", "retries"]),
        ["WARN webhook.failed 1 true", "INFO webhook.called 2", "WARN webhook.failed 1 false"]
    );
    let runs = log.events(&["run.ended", "webhook.called"]);
    assert_eq!(runs[0].fields["graph.run.id"], runs[1].fields["graph.run.id"]);
    assert!(!log.text().contains("/done") && !log.text().contains("fine"), "{}", log.text());
}
