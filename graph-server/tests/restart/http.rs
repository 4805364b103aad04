//! A client of one request for each connection.

use std::io;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Sends a request, and returns the connection.
pub(crate) async fn send(
    port: u16,
    method: &str,
    path: &str,
    body: Option<&Value>,
    headers: &str,
) -> io::Result<TcpStream> {
    let mut connection = TcpStream::connect(("127.0.0.1", port)).await?;
    let body = body.map(Value::to_string).unwrap_or_default();
    // HTTP 1.0: the end of the response is the end of the connection.
    let request = format!(
        "{method} {path} HTTP/1.0\r\nhost: localhost\r\ncontent-length: {}\r\n{headers}\r\n{body}",
        body.len()
    );
    connection.write_all(request.as_bytes()).await?;
    Ok(connection)
}

/// Sends a request and reads the response: its status, headers and body.
pub(crate) async fn call(
    port: u16,
    method: &str,
    path: &str,
    body: Option<&Value>,
) -> io::Result<(u16, String)> {
    let mut connection = send(port, method, path, body, "").await?;
    let mut text = String::new();
    connection.read_to_string(&mut text).await?;
    parse(&text).ok_or_else(|| io::Error::other("the response is cut off"))
}

pub(crate) fn parse(text: &str) -> Option<(u16, String)> {
    let (head, body) = text.split_once("\r\n\r\n")?;
    Some((head.split(' ').nth(1)?.parse().ok()?, body.to_owned()))
}

/// Sends a request that must succeed.
pub(crate) async fn ok(port: u16, method: &str, path: &str, body: Option<&Value>) -> Value {
    let (status, text) = call(port, method, path, body).await.expect("a response");
    assert_eq!(status, 200, "{text}");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Waits until a run has ended, and returns its status.
pub(crate) async fn ended(port: u16, thread: &str, run: &str) -> String {
    for _ in 0..4_000 {
        let found = ok(port, "GET", &format!("/threads/{thread}/runs/{run}"), None).await;
        let status = found["status"].as_str().expect("a status");
        if status != "pending" && status != "running" {
            return status.to_owned();
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("the run does not end");
}

pub(crate) fn id(value: &Value, name: &str) -> String {
    value[name].as_str().expect("an id").to_owned()
}
