//! `serve` over HTTP, with its options.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::guide;

struct Server {
    child: Child,
    address: String,
    _home: TempDir,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn command(home: &TempDir, options: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_serve"));
    command.args(["--port", "0", "--db", "server.db", "--documents", "."]).args(options);
    for name in ["OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL", "SUPERSTEP_API_KEY", "SUPERSTEP_USERS"]
    {
        command.env_remove(name);
    }
    command.current_dir(home).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

impl Server {
    fn start(options: &[&str]) -> Self {
        Self::start_with(options, &[])
    }

    fn start_with(options: &[&str], variables: &[(&str, &str)]) -> Self {
        let home = guide();
        let mut child = command(&home, options).envs(variables.iter().copied()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().rsplit_once("http://").unwrap().1.to_owned();
        Self { child, address, _home: home }
    }

    /// Sends a request. Returns the status and the body.
    fn call(&self, method: &str, path: &str, key: &str, body: Option<&Value>) -> (u16, String) {
        let mut socket = TcpStream::connect(&self.address).unwrap();
        let body = body.map(Value::to_string).unwrap_or_default();
        let length = body.len();
        write!(
            socket,
            "{method} {path} HTTP/1.1\r\nhost: x\r\nx-api-key: {key}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut response = String::new();
        socket.read_to_string(&mut response).unwrap();
        let (head, body) = response.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    fn post(&self, path: &str, key: &str, body: &Value) -> (u16, String) {
        self.call("POST", path, key, Some(body))
    }

    /// Stops the server, and returns its log.
    fn log(mut self) -> String {
        self.child.kill().unwrap();
        let mut log = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        log
    }
}

/// The id in a body.
fn thread_id(body: &str) -> String {
    let thread: Value = serde_json::from_str(body).unwrap();
    thread["thread_id"].as_str().unwrap().to_owned()
}

#[test]
fn each_user_sees_its_own_threads() {
    for (options, variables) in [
        (&["--user", "ann=key-a", "--user", "ben=key-b"][..], &[][..]),
        (&[][..], &[("SUPERSTEP_USERS", "ann=key-a ben=key-b")][..]),
    ] {
        let server = Server::start_with(options, variables);
        let (status, created) = server.post("/threads", "key-a", &json!({}));
        assert_eq!(status, 200, "{created}");
        let path = format!("/threads/{}", thread_id(&created));
        assert_eq!(server.call("GET", &path, "key-a", None).0, 200);
        assert_eq!(server.call("GET", &path, "key-b", None).0, 404);
        assert_eq!(server.post("/threads/count", "key-b", &json!({})), (200, "0".to_owned()));
        for key in ["", "key-c", "ann=key-a"] {
            assert_eq!(server.call("GET", &path, key, None).0, 401, "{key}");
        }
    }
}

#[test]
fn a_key_is_required_for_every_thread() {
    let server = Server::start(&["--api-key", "secret"]);
    assert_eq!(server.post("/threads", "", &json!({})).0, 401);
    assert_eq!(server.post("/threads", "secret", &json!({})).0, 200);
}

#[test]
fn requests_and_streams_and_bodies_have_limits() {
    let server = Server::start(&["--rate-limit", "1:3", "--body-limit", "100"]);
    let large = json!({ "metadata": { "text": "x".repeat(100) } });
    assert_eq!(server.post("/threads", "", &large).0, 413);
    let mut statuses = (0..100).map(|_| server.post("/threads", "", &json!({})).0);
    assert_eq!((statuses.next(), statuses.next()), (Some(200), Some(200)));
    assert!(statuses.any(|status| status == 429));

    let server = Server::start(&["--stream-limit", "1"]);
    let (_, created) = server.post("/threads", "", &json!({}));
    let path = format!("/threads/{}/stream", thread_id(&created));
    let mut open = TcpStream::connect(&server.address).unwrap();
    write!(open, "GET {path} HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
    let mut begin = [0; 12];
    open.read_exact(&mut begin).unwrap();
    assert_eq!(&begin, b"HTTP/1.1 200");
    assert_eq!(server.call("GET", &path, "", None).0, 429);
}

#[test]
fn the_log_is_text_or_json() {
    for format in ["text", "json"] {
        let server = Server::start(&["--log", "info", "--log-format", format]);
        server.post("/threads", "a-key", &json!({}));
        let log = server.log();
        let lines = log.lines().filter(|line| line.contains("request finished")).collect::<Vec<_>>();
        assert_eq!(lines.len(), 1, "{log}");
        assert!(lines[0].contains("/threads") && lines[0].contains("200") && !log.contains("a-key"), "{log}");
        assert_eq!(serde_json::from_str::<Value>(lines[0]).is_ok(), format == "json", "{log}");
    }
    let server = Server::start(&["--log", "error"]);
    server.post("/threads", "", &json!({}));
    assert!(!server.log().contains("request finished"));
}

#[test]
fn mistakes_in_options_are_named() {
    for (options, expected) in [
        (&["--user", "=secret-key"][..], "NAME=KEY"),
        (&["--rate-limit", "0"][..], "positive numbers"),
        (&["--stream-limit", "1:x"][..], "positive numbers"),
        (&["--user", "ann=a", "--api-key", "b"][..], "cannot be used with"),
        (&["--log", "loud"][..], "possible values"),
    ] {
        let output = command(&guide(), options).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.contains(expected), "{text}");
    }
    let output = command(&guide(), &[]).env("SUPERSTEP_USERS", "secret-key").output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && text.contains("NAME=KEY") && !text.contains("secret-key"), "{text}");
}
