//! `ask` with a model: a test endpoint on loopback writes the answer.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use super::*;

/// Reads one HTTP request and returns its body.
fn request(socket: &TcpStream) -> Value {
    let mut reader = BufReader::new(socket);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    serde_json::from_slice(&body).unwrap()
}

/// Runs `ask` with an endpoint that answers one request. Returns the output and the request.
fn ask_model(folder: &Path, status: &'static str, body: &str) -> (Output, Value) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let body = body.to_owned();
    let server = thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let request = request(&socket);
        write!(
            socket,
            "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        request
    });
    let output = command(folder)
        .env("OPENAI_BASE_URL", url)
        .env("OPENAI_API_KEY", "secret")
        .env("OPENAI_MODEL", "test-model")
        .env("NO_PROXY", "127.0.0.1")
        .args(["What is a join?", "."])
        .output()
        .unwrap();
    (output, server.join().unwrap())
}

#[test]
fn answer_is_the_reply_followed_by_its_sources() {
    let folder = guide();
    let reply = r#"{"id":"1","object":"chat.completion","created":1,"model":"test-model","choices":
        [{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"It waits [1]."}}]}"#;
    let (output, request) = ask_model(folder.path(), "200 OK", reply);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stdout(&output), "It waits [1].\n\n[1] docs/guide.md:9\n");
    assert!(stderr(&output).contains("compose   waiting for `test-model`"), "{}", stderr(&output));
    assert_eq!(request["model"], "test-model");
    let prompt = request["messages"][1]["content"].as_str().unwrap();
    assert!(prompt.contains("[1] docs/guide.md:9\nA join waits for all of its sources."), "{prompt}");
}

#[test]
fn failure_is_explained_without_the_key() {
    let folder = guide();
    let refusal = r#"{"error":{"message":"no such model","type":"invalid","param":null,"code":null}}"#;
    let (output, _) = ask_model(folder.path(), "404 Not Found", refusal);
    fails(&output, 1, "the request to model `test-model` at `http://127.0.0.1");
    assert!(stderr(&output).contains("no such model"), "{}", stderr(&output));
    assert!(!stderr(&output).contains("secret"), "{}", stderr(&output));
}
