//! Clients that disconnect.

use std::time::Duration;

use serde_json::json;
use tokio::io::AsyncReadExt as _;

use crate::child::Running;
use crate::http::{ended, id, ok, send};

#[tokio::test]
async fn a_closed_connection_cancels_the_run_that_depends_on_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = Running::start(folder.path());
    for kind in ["stream", "wait"] {
        let thread = id(&ok(server.port, "POST", "/threads", Some(&json!({}))).await, "thread_id");
        let body = json!({ "assistant_id": "job", "input": { "name": "wait" }, "on_disconnect": "cancel" });
        let path = format!("/threads/{thread}/runs/{kind}");
        let mut connection = send(server.port, "POST", &path, Some(&body), "").await.expect("a connection");
        let mut head = [0; 17];
        connection.read_exact(&mut head).await.expect("the headers come at once");
        assert_eq!(&head, b"HTTP/1.0 200 OK\r\n");
        let runs = ok(server.port, "GET", &format!("/threads/{thread}/runs"), None).await;
        assert_eq!(runs[0]["status"], "running");
        drop(connection);
        assert_eq!(ended(server.port, &thread, &id(&runs[0], "run_id")).await, "interrupted");
    }
}

#[tokio::test]
async fn malformed_requests_do_not_stop_the_server() {
    use tokio::io::AsyncWriteExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    let server = Running::start(folder.path());
    for garbage in
        ["\0\0\0", "GET / HTTP/9\r\n\r\n", "POST /runs HTTP/1.1\r\ncontent-length: 99999999\r\n\r\n{", ""]
    {
        let mut connection =
            tokio::net::TcpStream::connect(("127.0.0.1", server.port)).await.expect("a connection");
        let _ = connection.write_all(garbage.as_bytes()).await;
        let _ = tokio::time::timeout(Duration::from_millis(50), connection.read(&mut [0; 64])).await;
    }
    ok(server.port, "GET", "/ok", None).await;
}
