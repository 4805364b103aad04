//! A client that keeps its connection and reads as little as possible.

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

pub(crate) struct Client {
    host: String,
    connection: BufReader<TcpStream>,
}

/// The body of a response.
enum Framing {
    Length(usize),
    Chunked,
}

impl Client {
    pub(crate) async fn connect(address: &str) -> Self {
        let connection = TcpStream::connect(address).await.expect("a connection");
        connection.set_nodelay(true).expect("a connection without delays");
        Self { host: address.to_owned(), connection: BufReader::new(connection) }
    }

    async fn send(&mut self, method: &str, path: &str, body: Option<&Value>) {
        let body = body.map(Value::to_string).unwrap_or_default();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.host,
            body.len()
        );
        self.connection.get_mut().write_all(request.as_bytes()).await.expect("the request is sent");
    }

    async fn line(&mut self) -> String {
        let mut line = String::new();
        self.connection.read_line(&mut line).await.expect("a line of the response");
        line
    }

    /// Reads the head of a response.
    async fn head(&mut self, path: &str) -> Framing {
        let status = self.line().await;
        let mut framing = Framing::Length(0);
        loop {
            let line = self.line().await.trim().to_ascii_lowercase();
            match line.split_once(':') {
                Some(("content-length", length)) => {
                    framing = Framing::Length(length.trim().parse().expect("a length"));
                }
                Some(("transfer-encoding", _)) => framing = Framing::Chunked,
                Some(_) => {}
                None => break,
            }
        }
        assert!(status.contains(" 200 "), "{path}: {status}");
        framing
    }

    async fn bytes(&mut self, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.connection.read_exact(&mut bytes).await.expect("the body of the response");
        bytes
    }

    /// Reads the next chunk of a body. It is empty at the end.
    async fn chunk(&mut self) -> Vec<u8> {
        let size = self.line().await;
        let size = usize::from_str_radix(size.trim(), 16).expect("the size of a chunk");
        let chunk = self.bytes(size).await;
        self.line().await;
        chunk
    }

    async fn body(&mut self, framing: Framing) -> Vec<u8> {
        let mut body = Vec::new();
        match framing {
            Framing::Length(length) => return self.bytes(length).await,
            Framing::Chunked => loop {
                let chunk = self.chunk().await;
                if chunk.is_empty() {
                    return body;
                }
                body.extend(chunk);
            },
        }
    }

    pub(crate) async fn call(&mut self, method: &str, path: &str, body: Option<&Value>) -> Value {
        self.send(method, path, body).await;
        let framing = self.head(path).await;
        let body = self.body(framing).await;
        serde_json::from_slice(&body).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Sends a request for a stream, and returns when the head of the response has come.
    pub(crate) async fn open(&mut self, path: &str, body: &Value) {
        self.send("POST", path, Some(body)).await;
        self.head(path).await;
    }

    /// Sends a request for a stream, and returns when its first event has come.
    pub(crate) async fn first_event(&mut self, path: &str, body: &Value) {
        self.open(path, body).await;
        while !self.chunk().await.windows(5).any(|bytes| bytes == b"data:") {}
    }

    /// Reads a stream to its end, so that the connection can be used again.
    pub(crate) async fn end(&mut self) {
        while !self.chunk().await.is_empty() {}
    }
}
