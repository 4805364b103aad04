//! Bytes that are not HTTP, or not quite.

use serde_json::json;
use tokio::io::AsyncWriteExt as _;

use crate::connection::{rest, send, status};
use crate::served::Served;

/// Sends bytes and closes the sending side. Returns the status of the response, if there is one.
async fn answer(served: &Served, bytes: &[u8]) -> Option<u16> {
    let mut connection = send(served.address, bytes).await;
    // The server may have closed the connection already.
    let _closed = connection.shutdown().await;
    status(&rest(&mut connection).await)
}

#[tokio::test(flavor = "multi_thread")]
async fn malformed_requests_are_refused_and_the_server_goes_on() {
    let served = Served::new().await;
    let long = "a".repeat(1 << 20);
    let many: String = (0..200).map(|n| format!("x-{n}: 1\r\n")).collect();
    let body = r#"{"assistant_id":"echo","input":{"text":"a"}}"#;
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("nothing", Vec::new()),
        ("zeros", vec![0; 1_000]),
        ("every byte", (0..=255).collect()),
        ("the hello of TLS", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".to_vec()),
        ("the preface of HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec()),
        ("no version", b"GET /ok\r\n\r\n".to_vec()),
        ("another version", b"GET /ok HTTP/9.9\r\nhost: a\r\n\r\n".to_vec()),
        ("a long method", format!("{long} / HTTP/1.1\r\nhost: a\r\n\r\n").into_bytes()),
        ("a long path", format!("GET /{long} HTTP/1.1\r\nhost: a\r\n\r\n").into_bytes()),
        ("a long header", format!("GET /ok HTTP/1.1\r\nhost: a\r\nx: {long}\r\n\r\n").into_bytes()),
        ("many headers", format!("GET /ok HTTP/1.1\r\nhost: a\r\n{many}\r\n").into_bytes()),
        ("a header without a name", b"GET /ok HTTP/1.1\r\nhost: a\r\n: x\r\n\r\n".to_vec()),
        ("a header with a line break", b"GET /ok HTTP/1.1\r\nhost: a\r\nx: a\nb\r\n\r\n".to_vec()),
        ("a space in the path", b"GET /o k HTTP/1.1\r\nhost: a\r\n\r\n".to_vec()),
        (
            "a length that is no number",
            b"POST /runs HTTP/1.1\r\nhost: a\r\ncontent-length: x\r\n\r\n".to_vec(),
        ),
        ("a negative length", b"POST /runs HTTP/1.1\r\nhost: a\r\ncontent-length: -1\r\n\r\n".to_vec()),
        (
            "two lengths",
            b"POST /runs HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab".to_vec(),
        ),
        (
            "a body that is too short",
            format!("POST /runs HTTP/1.1\r\nhost: a\r\ncontent-length: 999\r\n\r\n{body}").into_bytes(),
        ),
        (
            "a chunk without a size",
            b"POST /runs HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nx\r\n".to_vec(),
        ),
        (
            "a chunk that is too long",
            b"POST /runs HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\n"
                .to_vec(),
        ),
        (
            "an unknown coding",
            b"POST /runs HTTP/1.1\r\nhost: a\r\ntransfer-encoding: gzip\r\n\r\nabc".to_vec(),
        ),
    ];
    for (name, bytes) in cases {
        let status = answer(&served, &bytes).await;
        assert!(status.is_none_or(|status| (400..500).contains(&status)), "{name}: {status:?}");
    }
    served.ok("GET", "/ok", None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn odd_but_valid_requests_are_served() {
    let served = Served::new().await;
    let body = r#"{"assistant_id":"echo","input":{"text":"a"}}"#;
    let length = body.len();
    // Two requests at once, a body in chunks with a trailer, HTTP/1.0, and a full address in the first line.
    let twice = "GET /ok HTTP/1.1\r\nhost: a\r\n\r\nGET /ok HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
    let response = rest(&mut send(served.address, twice.as_bytes()).await).await;
    assert_eq!(String::from_utf8_lossy(&response).matches("HTTP/1.1 200").count(), 2);
    let (first, second) = body.split_at(10);
    let chunks = format!(
        "POST /runs/wait HTTP/1.1\r\nhost: a\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n\
         a;x=y\r\n{first}\r\n{:x}\r\n{second}\r\n0\r\nx-trailer: 1\r\n\r\n",
        second.len()
    );
    for (name, request) in [
        ("chunks", chunks),
        ("HTTP/1.0", format!("POST /runs/wait HTTP/1.0\r\ncontent-length: {length}\r\n\r\n{body}")),
        (
            "a full address",
            format!(
                "POST http://a/runs/wait HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
            ),
        ),
    ] {
        let response = rest(&mut send(served.address, request.as_bytes()).await).await;
        assert_eq!(status(&response), Some(200), "{name}");
        assert!(String::from_utf8_lossy(&response).contains(r#""log":["a"]"#), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_above_the_limit_are_refused() {
    let served = Served::on(superstep_server::Server::new().body_limit(1_000)).await;
    let text = "x".repeat(2_000);
    let run = json!({ "assistant_id": "echo", "input": { "text": text } });
    for path in ["/runs/wait", "/runs/stream", "/threads", "/mcp", "/a2a/echo"] {
        let (status, _) = crate::connection::call(served.address, "POST", path, Some(run.clone())).await;
        assert_eq!(status, 413, "{path}");
    }
    served.ok("GET", "/ok", None).await;
}
