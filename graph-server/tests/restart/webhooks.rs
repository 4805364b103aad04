//! Webhooks of servers that are killed.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::child::{Running, open_gate};
use crate::http::{ended, id, ok};
use crate::killed::happens;

/// A place that is called.
struct Receiver(TcpListener);

impl Receiver {
    async fn new() -> Self {
        Self(TcpListener::bind("127.0.0.1:0").await.expect("a port"))
    }

    fn url(&self) -> String {
        format!("http://{}/done", self.0.local_addr().expect("an address"))
    }

    /// Waits for a call. Returns its body, and the connection on which it waits for a response.
    async fn call(&self) -> (Value, TcpStream) {
        let (mut socket, _) = self.0.accept().await.expect("a connection");
        let mut request = String::new();
        loop {
            let mut part = [0; 4_096];
            let count = socket.read(&mut part).await.expect("a request");
            request.push_str(std::str::from_utf8(&part[..count]).expect("text"));
            let Some((head, body)) = request.split_once("\r\n\r\n") else { continue };
            let length =
                head.lines().find_map(|line| line.strip_prefix("content-length: ")).expect("a length");
            if body.len() == length.parse::<usize>().expect("a number") {
                return (serde_json::from_str(body).expect("JSON"), socket);
            }
        }
    }

    /// Returns `true` if no call is under way.
    async fn is_quiet(&self) -> bool {
        let waiting = std::future::poll_fn(|cx| std::task::Poll::Ready(self.0.poll_accept(cx).is_pending()));
        waiting.await
    }
}

async fn accept(mut socket: TcpStream) {
    let response = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    socket.write_all(response).await.expect("the response");
    // The other side has read it when it closes the connection.
    let _closed = socket.read(&mut [0; 1]).await;
}

#[tokio::test]
async fn a_call_that_was_cut_off_is_made_again() {
    let (folder, receiver) = (tempfile::tempdir().expect("a folder"), Receiver::new().await);
    let first = Running::start(folder.path());
    let thread = id(&ok(first.port, "POST", "/threads", Some(&json!({}))).await, "thread_id");
    let body = json!({ "assistant_id": "job", "input": { "name": "a" }, "webhook": receiver.url() });
    let path = format!("/threads/{thread}/runs");
    let run = id(&ok(first.port, "POST", &path, Some(&body)).await, "run_id");
    // The run has ended, and its result is being sent.
    let (called, socket) = receiver.call().await;
    assert_eq!((called["run_id"].as_str(), called["status"].as_str()), (Some(&*run), Some("success")));
    first.kill();
    drop(socket);

    let second = Running::start(folder.path());
    let (again, socket) = receiver.call().await;
    assert_eq!(again, called);
    accept(socket).await;
    assert_eq!(ended(second.port, &thread, &run).await, "success");
    // A later run is called for; the first one is not again.
    let other = id(&ok(second.port, "POST", &path, Some(&body)).await, "run_id");
    let (called, socket) = receiver.call().await;
    assert_eq!(called["run_id"].as_str(), Some(&*other));
    accept(socket).await;
    second.kill();
    assert!(receiver.is_quiet().await);
}

#[tokio::test]
async fn a_run_that_has_not_ended_calls_nobody() {
    let (folder, receiver) = (tempfile::tempdir().expect("a folder"), Receiver::new().await);
    let first = Running::start(folder.path());
    let thread = id(&ok(first.port, "POST", "/threads", Some(&json!({}))).await, "thread_id");
    let body = json!({
        "assistant_id": "job", "input": { "name": "wait-a" }, "webhook": receiver.url(), "durability": "sync",
    });
    let run = id(&ok(first.port, "POST", &format!("/threads/{thread}/runs"), Some(&body)).await, "run_id");
    happens(folder.path(), "work wait-a").await;
    first.kill();
    assert!(receiver.is_quiet().await);

    let second = Running::start(folder.path());
    // It serves, and the run goes on.
    ok(second.port, "GET", "/ok", None).await;
    assert!(receiver.is_quiet().await);
    open_gate(folder.path());
    let (called, socket) = receiver.call().await;
    assert_eq!((called["run_id"].as_str(), called["status"].as_str()), (Some(&*run), Some("success")));
    assert_eq!(called["values"]["log"], json!(["wait-a begins", "wait-a done"]));
    accept(socket).await;
    assert_eq!(ended(second.port, &thread, &run).await, "success");
}
