use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::routing::get;
use futures_util::stream::unfold;
use serde_json::json;
use superstep::{END, GraphState, START, StateGraph};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;
use tokio_tungstenite::client_async;

use super::{WRITE_TIMEOUT, connection};
use crate::Server;
use crate::protocol::ThreadId;
use crate::thread_stream::{Channel, NewEvent};

/// A connection to routes, whose buffers have 1,024 bytes in each direction.
struct Client {
    socket: DuplexStream,
    stopping: watch::Sender<bool>,
    serving: JoinHandle<()>,
}

impl Client {
    fn of(router: Router) -> Self {
        let (socket, server) = duplex(1_024);
        let (stopping, stops) = watch::channel(false);
        let peer = SocketAddr::from(([127, 0, 0, 1], 1));
        Self { socket, stopping, serving: tokio::spawn(connection::serve(server, peer, router, stops)) }
    }

    async fn send(&mut self, text: &str) {
        self.socket.write_all(text.as_bytes()).await.unwrap();
    }

    /// Reads until the bytes end in this string.
    async fn until(&mut self, end: &str) -> String {
        let mut read = String::new();
        while !read.ends_with(end) {
            read.push(char::from(self.socket.read_u8().await.unwrap()));
        }
        read
    }

    async fn rest(&mut self) -> String {
        let mut read = String::new();
        self.socket.read_to_string(&mut read).await.unwrap();
        read
    }
}

/// A stream whose parts come one by one. The number of open ones is counted.
#[derive(Clone)]
struct Parts {
    ready: Arc<Semaphore>,
    open: Arc<AtomicUsize>,
}

struct Open(Arc<AtomicUsize>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Parts {
    fn new() -> Self {
        Self { ready: Arc::new(Semaphore::new(0)), open: Arc::default() }
    }

    fn body(&self, count: usize) -> Body {
        self.open.fetch_add(1, Ordering::SeqCst);
        let start = (0, Open(Arc::clone(&self.open)), Arc::clone(&self.ready));
        Body::from_stream(unfold(start, move |(n, open, ready)| async move {
            if n == count {
                return None;
            }
            ready.acquire().await.ok()?.forget();
            Some((Ok::<_, Infallible>(Bytes::from(format!("part {n}\n"))), (n + 1, open, ready)))
        }))
    }

    fn routes(&self) -> Router {
        let parts = self.clone();
        let stream = move || async move { parts.body(3) };
        Router::new()
            .route("/stream", get(stream.clone()).post(stream))
            .route("/plain", get(async || "plain"))
    }

    async fn are_closed(&self) {
        while self.open.load(Ordering::SeqCst) > 0 {
            tokio::task::yield_now().await;
        }
    }
}

const STREAM: &str = "GET /stream HTTP/1.1\r\nhost: x\r\n\r\n";
const PLAIN: &str = "GET /plain HTTP/1.1\r\nhost: x\r\n\r\n";

#[tokio::test]
async fn a_stream_that_waits_is_sent_in_chunks_and_the_connection_is_kept() {
    let parts = Parts::new();
    let mut client = Client::of(parts.routes());
    for round in 0..3 {
        client.send(STREAM).await;
        let head = client.until("\r\n\r\n").await;
        assert!(
            head.starts_with("HTTP/1.1 200 OK\r\n") && head.contains("transfer-encoding: chunked"),
            "{head}"
        );
        if round == 1 {
            // The next request comes before the end of the response.
            client.send(PLAIN).await;
        }
        for n in 0..3 {
            parts.ready.add_permits(1);
            assert_eq!(client.until(&format!("part {n}\n\r\n")).await, format!("7\r\npart {n}\n\r\n"));
        }
        assert_eq!(client.until("0\r\n\r\n").await, "0\r\n\r\n");
        if round == 1 {
            assert!(client.until("\r\n\r\nplain").await.contains("content-length: 5"));
        }
        parts.are_closed().await;
    }
    client.send(PLAIN).await;
    client.until("\r\n\r\nplain").await;
    drop(client.socket);
    client.serving.await.unwrap();
}

#[tokio::test]
async fn the_stream_of_a_client_that_leaves_is_dropped() {
    let parts = Parts::new();
    let mut client = Client::of(parts.routes());
    client.send(STREAM).await;
    client.until("\r\n\r\n").await;
    drop(client.socket);
    parts.are_closed().await;
    client.serving.await.unwrap();
}

#[tokio::test]
async fn a_last_request_closes_the_connection() {
    for request in [
        "GET /stream HTTP/1.1\r\nhost: x\r\nconnection: Close\r\n\r\n",
        "GET /stream HTTP/1.0\r\n\r\n",
        "POST /stream HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 4\r\n\r\nbody",
    ] {
        let parts = Parts::new();
        let mut client = Client::of(parts.routes());
        client.send(request).await;
        client.until("\r\n\r\n").await;
        parts.ready.add_permits(3);
        let rest = client.rest().await;
        assert!(
            rest.contains("part 2\n") && rest.ends_with("0\r\n\r\n") == request.contains("1.1"),
            "{rest}"
        );
        client.serving.await.unwrap();
    }
}

#[tokio::test]
async fn a_server_that_stops_ends_connections_after_their_responses() {
    let parts = Parts::new();
    let (mut client, mut idle) = (Client::of(parts.routes()), Client::of(parts.routes()));
    idle.send(PLAIN).await;
    idle.until("\r\n\r\nplain").await;
    client.send(STREAM).await;
    client.until("\r\n\r\n").await;
    for client in [&client, &idle] {
        client.stopping.send_replace(true);
    }
    assert_eq!(idle.rest().await, "");
    parts.ready.add_permits(3);
    assert!(client.rest().await.ends_with("0\r\n\r\n"));
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_is_disconnected() {
    let parts = Parts::new();
    let (own, began) = (parts.clone(), tokio::time::Instant::now());
    let endless = Router::new().route("/stream", get(move || async move { own.body(usize::MAX) }));
    let mut client = Client::of(endless);
    client.send(STREAM).await;
    client.until("\r\n\r\n").await;
    parts.ready.add_permits(1_000);
    client.serving.await.unwrap();
    assert_eq!((parts.open.load(Ordering::SeqCst), began.elapsed()), (0, WRITE_TIMEOUT));
}

#[derive(GraphState, Clone)]
struct Echo {
    #[state(input)]
    text: String,
}

async fn echo(_: &Echo) {}

#[tokio::test(start_paused = true)]
async fn a_websocket_is_an_open_stream_until_its_client_does_not_read() {
    let graph = StateGraph::<Echo>::new().edge(START, echo).edge(echo, END).compile().unwrap();
    let started = Server::new().graph("echo", graph).stream_limit(1, 1).start().await.unwrap();
    let (app, thread) = (Arc::clone(started.app()), ThreadId::new());
    let url = format!("ws://x/threads/{thread}/stream/events");
    let client = Client::of(started.router());
    let (mut socket, _) = client_async(&url, client.socket).await.unwrap();
    let subscribe =
        json!({ "id": 1, "method": "subscription.subscribe", "params": { "channels": ["values"] } });
    let text = tokio_tungstenite::tungstenite::Message::text(subscribe.to_string());
    futures_util::SinkExt::send(&mut socket, text).await.unwrap();
    futures_util::StreamExt::next(&mut socket).await.unwrap().unwrap();
    assert_eq!(app.streams.count(), 1);
    // A second one is refused.
    assert!(client_async(&url, Client::of(started.router()).socket).await.is_err());
    let events = app.thread_streams.open(thread);
    let long = format!("\"{}\"", "x".repeat(10_000));
    events.push([NewEvent { data: long, ..NewEvent::of(Channel::Values, Vec::new()) }]);
    tokio::time::sleep(WRITE_TIMEOUT / 2).await;
    assert_eq!(app.streams.count(), 1);
    tokio::time::sleep(WRITE_TIMEOUT + Duration::from_secs(1)).await;
    assert_eq!(app.streams.count(), 0);
}
