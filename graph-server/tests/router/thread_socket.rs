//! The thread protocol over a WebSocket.

use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::client::Client;
use crate::thread_client::{data, is_end, new_thread, start};

pub(crate) struct Socket(WebSocketStream<MaybeTlsStream<TcpStream>>);

pub(crate) async fn serve(client: &Client) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let routes = client.routes.clone();
    tokio::spawn(async move { axum::serve(listener, routes).await });
    format!("ws://{address}")
}

impl Socket {
    pub(crate) async fn open(address: &str, thread: &str) -> Self {
        Self(connect_async(format!("{address}/threads/{thread}/stream/events")).await.unwrap().0)
    }

    async fn send(&mut self, text: String) {
        self.0.send(Message::text(text)).await.unwrap();
    }

    async fn command(&mut self, id: u64, method: &str, params: Value) {
        self.send(json!({ "id": id, "method": method, "params": params }).to_string()).await;
    }

    /// Reads up to the first message that fits.
    async fn until(&mut self, is_last: impl Fn(&Value) -> bool) -> Vec<Value> {
        let mut read = Vec::new();
        loop {
            let message = tokio::time::timeout(Duration::from_secs(10), self.0.next()).await;
            let message = message.unwrap_or_else(|_| panic!("no message in time after {read:?}"));
            let Message::Text(text) = message.unwrap().unwrap() else { continue };
            read.push(serde_json::from_str(&text).unwrap());
            if is_last(read.last().unwrap()) {
                return read;
            }
        }
    }

    /// Sends a command, and returns its response. Events before it are dropped.
    pub(crate) async fn reply(&mut self, id: u64, method: &str, params: Value) -> Value {
        self.command(id, method, params).await;
        self.until(|message| message["id"] == id).await.pop().unwrap()
    }
}

#[tokio::test]
async fn commands_and_events_share_a_connection() {
    let client = Client::new().await;
    let thread = new_thread();
    let mut socket = Socket::open(&serve(&client).await, &thread).await;
    let channels = json!({ "channels": ["values", "lifecycle", "input"] });
    let reply = socket.reply(1, "subscription.subscribe", channels).await;
    assert_eq!(reply["result"]["replayed_events"], 0);
    let run = json!({ "assistant_id": "order", "input": { "item": "tea" } });
    socket.command(2, "run.start", run).await;
    let found = socket.until(is_end).await;
    let run = found.iter().find(|message| message["id"] == 2).expect("a response");
    assert!(run["result"]["run_id"].is_string());
    assert_eq!(data(&found, "values").len(), 2);
    let id = data(&found, "input.requested")[0]["interrupt_id"].clone();
    socket.command(3, "input.respond", json!({ "interrupt_id": id, "response": true })).await;
    let rest = socket.until(is_end).await;
    assert_eq!(rest.last().unwrap()["params"]["data"]["event"], "completed");
}

#[tokio::test]
async fn subscriptions_replay_and_end() {
    let client = Client::new().await;
    let thread = new_thread();
    let run =
        start(&client, &thread, json!({ "assistant_id": "chat", "input": { "messages": "hello" } })).await;
    client.ended(&thread, &run).await;
    let mut socket = Socket::open(&serve(&client).await, &thread).await;
    socket.command(1, "subscription.subscribe", json!({ "channels": ["lifecycle"] })).await;
    let found = socket.until(is_end).await;
    assert_eq!(found[0]["result"]["replayed_events"], 2);
    assert_eq!(found.len(), 3);
    let since = found[1]["seq"].clone();
    let reply =
        socket.reply(2, "subscription.subscribe", json!({ "channels": ["values"], "since": since })).await;
    assert_eq!(reply["result"]["replayed_events"], 3);
    // Both want the event, which is sent once.
    let reply = socket
        .reply(3, "subscription.subscribe", json!({ "channels": ["lifecycle"], "since": u64::MAX >> 11 }))
        .await;
    let third = reply["result"]["subscription_id"].clone();
    start(&client, &thread, json!({ "assistant_id": "chat", "input": { "messages": "again" } })).await;
    let live = socket.until(is_end).await;
    assert_eq!(data(&live, "lifecycle").len(), 2);
    assert_eq!(
        socket.reply(4, "subscription.unsubscribe", json!({ "subscription_id": third })).await["result"],
        json!({})
    );
    let again = socket.reply(5, "subscription.unsubscribe", json!({ "subscription_id": third })).await;
    assert_eq!(again["error"], "no_such_subscription");
}

#[tokio::test]
async fn wrong_messages_are_answered() {
    let client = Client::new().await;
    let mut socket = Socket::open(&serve(&client).await, &new_thread()).await;
    for text in ["", "{", "[]", "{\"id\":1}"] {
        socket.send(text.to_owned()).await;
        let reply = socket.until(|message| message["type"] == "error").await.pop().unwrap();
        assert_eq!(reply["error"], "invalid_argument", "{text}");
    }
    for (method, params, code) in [
        ("nothing", json!({}), "unknown_command"),
        ("subscription.reconnect", json!({}), "unknown_command"),
        ("subscription.subscribe", json!({ "channels": ["x"] }), "invalid_argument"),
    ] {
        assert_eq!(socket.reply(9, method, params).await["error"], code);
    }
}

#[tokio::test]
async fn a_server_that_stops_ends_the_connection() {
    let client = Client::new().await;
    let thread = new_thread();
    let mut socket = Socket::open(&serve(&client).await, &thread).await;
    socket.reply(1, "subscription.subscribe", json!({ "channels": ["values"] })).await;
    client.server.shutdown(Duration::from_secs(5)).await;
    let closed = tokio::time::timeout(Duration::from_secs(10), socket.0.next()).await.unwrap();
    assert!(matches!(closed, Some(Ok(Message::Close(_)))), "{closed:?}");
}
