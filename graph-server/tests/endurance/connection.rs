//! A client that writes and reads the bytes of HTTP/1.1 itself.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// The time in which everything happens that a test waits for.
pub(crate) const LIMIT: Duration = Duration::from_secs(30);

/// Returns the bytes of a request, after whose response the connection is closed.
pub(crate) fn request(method: &str, path: &str, body: Option<&Value>) -> Vec<u8> {
    let body = body.map(Value::to_string).unwrap_or_default();
    format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// Sends bytes, and returns the connection.
pub(crate) async fn send(address: SocketAddr, bytes: &[u8]) -> TcpStream {
    let mut connection = TcpStream::connect(address).await.expect("a connection");
    connection.write_all(bytes).await.expect("the request is sent");
    connection
}

/// Reads until the other side closes the connection.
pub(crate) async fn rest(connection: &mut TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    // A connection that is reset has said everything too.
    let _closed = tokio::time::timeout(LIMIT, connection.read_to_end(&mut bytes)).await.expect("an end");
    bytes
}

/// Returns the status of a response, if there is one.
pub(crate) fn status(response: &[u8]) -> Option<u16> {
    let text = String::from_utf8_lossy(response);
    text.strip_prefix("HTTP/1.")?.split(' ').nth(1)?.parse().ok()
}

/// Sends a request, and returns the status and the body of the response.
pub(crate) async fn call(address: SocketAddr, method: &str, path: &str, body: Option<Value>) -> (u16, Value) {
    let mut connection = send(address, &request(method, path, body.as_ref())).await;
    let response = rest(&mut connection).await;
    let status = status(&response).expect("a response");
    let text = String::from_utf8_lossy(&response);
    let (head, body) = text.split_once("\r\n\r\n").expect("a head");
    let body = if head.to_ascii_lowercase().contains("transfer-encoding: chunked") {
        unchunked(body)
    } else {
        body.to_owned()
    };
    (status, serde_json::from_str(body.trim()).unwrap_or_default())
}

/// Removes the frames of a chunked body.
pub(crate) fn unchunked(body: &str) -> String {
    let (mut rest, mut whole) = (body, String::new());
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or(0);
        let Some(chunk) = after.get(..size).filter(|_| size > 0) else { break };
        whole.push_str(chunk);
        rest = after.get(size + 2..).unwrap_or_default();
    }
    whole
}
