use std::error::Error as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::thread::JoinHandle;

use super::*;

/// Answers one HTTP request on loopback. The thread returns the head and the body of the request.
fn endpoint(status: &'static str, body: &'static str) -> (String, JoinHandle<(String, String)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(socket.try_clone().unwrap());
        let mut head = String::new();
        while reader.read_line(&mut head).unwrap() > 2 {}
        let length =
            head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
        let mut sent = vec![0; length.unwrap_or(0)];
        reader.read_exact(&mut sent).unwrap();
        write!(
            socket,
            "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        (head, String::from_utf8(sent).unwrap())
    });
    (url, server)
}

fn model(endpoint: &str, key: Option<&str>) -> OpenAi {
    OpenAi::new(Setup {
        endpoint: endpoint.to_owned(),
        key: key.map(str::to_owned),
        model: "test-model".to_owned(),
    })
    .unwrap()
}

fn prompt() -> Prompt {
    Prompt { system: "be brief".to_owned(), user: "why?".to_owned() }
}

const REPLY: &str = r#"{"id":"1","object":"chat.completion","created":1,"model":"test-model",
    "choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Because [1]."}}]}"#;

#[tokio::test]
async fn prompt_is_sent_and_reply_is_read() {
    let (url, server) = endpoint("200 OK", REPLY);
    assert_eq!(model(&url, Some("secret")).reply(&prompt()).await.unwrap(), "Because [1].");

    let (head, body) = server.join().unwrap();
    assert!(head.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("Bearer secret"), "{head}");
    let body: serde_json::Value = serde_json::from_str(&body).unwrap();
    assert_eq!(body["model"], "test-model");
    assert_eq!(body["messages"][0]["role"], "system");
    assert_eq!(body["messages"][0]["content"], "be brief");
    assert_eq!(body["messages"][1]["role"], "user");
    assert_eq!(body["messages"][1]["content"], "why?");
}

#[tokio::test]
async fn refusal_names_model_and_endpoint_but_not_the_key() {
    let (url, server) = endpoint(
        "401 Unauthorized",
        r#"{"error":{"message":"bad key","type":"auth","param":null,"code":null}}"#,
    );
    let error = model(&url, Some("secret")).reply(&prompt()).await.unwrap_err();
    server.join().unwrap();
    assert_eq!(error.to_string(), format!("the request to model `test-model` at `{url}` failed"));
    let cause = error.source().unwrap().to_string();
    assert!(cause.contains("bad key") && !cause.contains("secret"), "{cause}");
}

#[tokio::test]
async fn invalid_reply_is_an_error() {
    for body in ["not json", r#"{"id":"1","object":"chat.completion","created":1,"model":"m","choices":[]}"#]
    {
        let (url, server) = endpoint("200 OK", body);
        assert!(model(&url, None).reply(&prompt()).await.is_err(), "{body}");
        server.join().unwrap();
    }
}

#[tokio::test]
async fn closed_port_is_an_error() {
    // Bound and dropped: the port is free, and nothing listens on it.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let error = model(&format!("http://127.0.0.1:{port}/v1"), None).reply(&prompt()).await.unwrap_err();
    assert!(matches!(error, Error::Chat { .. }));
}
