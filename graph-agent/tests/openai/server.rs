//! A chat endpoint on loopback with prepared answers. It records its requests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use serde_json::Value;

/// A server that stops when it is dropped.
pub(crate) struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
    closed: Arc<AtomicBool>,
    /// The open connection. `drop` closes it: the client may run on the thread that waits for the server.
    open: Arc<Mutex<Option<TcpStream>>>,
    /// Receives a message when a client disconnects from an answer that ends in silence.
    disconnected: Receiver<()>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) line: String,
    /// In the order of arrival, with names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Value,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(header, _)| header == name).map(|(_, value)| value.as_str())
    }
}

/// The server's answer to a request.
#[derive(Clone)]
pub(crate) struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    parts: Vec<Vec<u8>>,
    framing: Framing,
}

#[derive(Clone, Copy, PartialEq)]
enum Framing {
    /// With `content-length`.
    Length,
    /// Each part as a chunk.
    Chunks,
    /// Chunks without the last, empty one.
    CutChunks,
    /// Until the connection is closed.
    Close,
    /// Chunks, then nothing until the client disconnects.
    Silence,
}

impl Answer {
    pub(crate) fn text(status: u16, content_type: &str, text: &str) -> Self {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        Self { status, headers, parts: vec![text.as_bytes().to_vec()], framing: Framing::Length }
    }

    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self::text(status, "application/json", &body.to_string())
    }

    /// An event stream with these bytes.
    pub(crate) fn stream(text: &str) -> Self {
        Self { framing: Framing::Chunks, ..Self::text(200, "text/event-stream", text) }
    }

    /// An event stream with these events and the final `[DONE]`.
    pub(crate) fn events(events: &[Value]) -> Self {
        let mut answer = Self::stream("");
        answer.parts = events.iter().map(|event| format!("data: {event}\n\n").into_bytes()).collect();
        answer.parts.push(b"data: [DONE]\n\n".to_vec());
        answer
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Splits the bytes into parts of this length.
    pub(crate) fn split(mut self, bytes: usize) -> Self {
        self.parts = self.parts.concat().chunks(bytes).map(<[u8]>::to_vec).collect();
        self
    }

    /// Replaces a byte everywhere, such as with one that is not UTF-8.
    pub(crate) fn replace(mut self, byte: u8, by: u8) -> Self {
        self.parts.iter_mut().flatten().filter(|found| **found == byte).for_each(|found| *found = by);
        self
    }

    /// Sends the first `parts` parts, then breaks the connection.
    pub(crate) fn cut(mut self, parts: usize) -> Self {
        self.parts.truncate(parts);
        Self { framing: Framing::CutChunks, ..self }
    }

    /// Sends the first `parts` parts, then closes the connection as if the body were complete.
    pub(crate) fn closed(mut self, parts: usize) -> Self {
        self.parts.truncate(parts);
        Self { framing: Framing::Close, ..self }
    }

    /// Sends the first `parts` parts, then nothing.
    pub(crate) fn silent(mut self, parts: usize) -> Self {
        self.parts.truncate(parts);
        Self { framing: Framing::Silence, ..self }
    }

    /// Writes the answer. A client may disconnect at any point of it.
    fn send(&self, socket: &mut TcpStream, disconnected: &Sender<()>) {
        let written = self.write(socket);
        if self.framing == Framing::Silence {
            if written.is_ok() {
                // Returns when the client disconnects.
                let _ = socket.read(&mut [0]);
            }
            let _ = disconnected.send(());
        }
    }

    fn write(&self, socket: &mut TcpStream) -> std::io::Result<()> {
        let mut head = format!("HTTP/1.1 {} Of a test\r\nconnection: close\r\n", self.status);
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        match self.framing {
            Framing::Length => {
                head += &format!("content-length: {}\r\n", self.parts.iter().map(Vec::len).sum::<usize>());
            }
            Framing::Close => {}
            Framing::Chunks | Framing::CutChunks | Framing::Silence => {
                head += "transfer-encoding: chunked\r\n";
            }
        }
        socket.write_all(format!("{head}\r\n").as_bytes())?;
        for part in self.parts.iter().filter(|part| !part.is_empty()) {
            match self.framing {
                Framing::Length | Framing::Close => socket.write_all(part)?,
                _ => {
                    let chunk = [format!("{:x}\r\n", part.len()).as_bytes(), part, b"\r\n"].concat();
                    socket.write_all(&chunk)?;
                }
            }
        }
        if self.framing == Framing::Chunks {
            socket.write_all(b"0\r\n\r\n")?;
        }
        socket.flush()
    }
}

impl Server {
    /// Starts a server with these answers. The last one is repeated.
    pub(crate) fn start(answers: impl IntoIterator<Item = Answer>) -> Self {
        let mut answers = answers.into_iter().collect::<Vec<_>>().into_iter();
        let mut last = None;
        Self::answering(move |_| {
            last = answers.next().or(last.take());
            last.clone().unwrap()
        })
    }

    /// Starts a server that computes its answers from the requests.
    pub(crate) fn answering(mut answer: impl FnMut(&Request) -> Answer + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (requests, closed) = (Arc::<Mutex<Vec<Request>>>::default(), Arc::<AtomicBool>::default());
        let open = Arc::<Mutex<Option<TcpStream>>>::default();
        let (disconnects, disconnected) = channel();
        let (all, is_closed, now_open) = (Arc::clone(&requests), Arc::clone(&closed), Arc::clone(&open));
        let thread = std::thread::spawn(move || {
            for socket in listener.incoming() {
                let mut socket = socket.unwrap();
                *now_open.lock().unwrap() = Some(socket.try_clone().unwrap());
                if is_closed.load(Ordering::SeqCst) {
                    break;
                }
                if let Some(request) = read(&socket) {
                    all.lock().unwrap().push(request.clone());
                    answer(&request).send(&mut socket, &disconnects);
                }
                // Dropping the last handle closes the connection.
                *now_open.lock().unwrap() = None;
            }
        });
        Self { address, requests, closed, open, disconnected, thread: Some(thread) }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Returns all requests so far.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// Waits until a client has disconnected from an answer that ends in silence.
    pub(crate) fn wait_for_disconnect(&self) {
        self.disconnected.recv_timeout(crate::TIMEOUT).unwrap();
    }

    /// Returns the only request.
    pub(crate) fn only_request(&self) -> Request {
        let requests = self.requests();
        assert_eq!(requests.len(), 1, "{requests:?}");
        requests[0].clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::SeqCst);
        if let Some(open) = &*self.open.lock().unwrap() {
            let _ = open.shutdown(Shutdown::Both);
        }
        // Wakes the server from `accept`.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(ended.is_ok() || std::thread::panicking(), "the server has panicked");
        }
    }
}

/// Reads a request. Returns `None` if the client has disconnected.
fn read(socket: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(socket);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        let line = line.strip_suffix("\r\n").expect("header lines end with CRLF").to_owned();
        if line.is_empty() {
            break;
        }
        lines.push(line);
    }
    let headers: Vec<_> = lines[1..]
        .iter()
        .map(|line| {
            let (name, value) = line.split_once(": ").unwrap();
            (name.to_lowercase(), value.to_owned())
        })
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length")?.1.parse().unwrap();
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request { line: lines[0].clone(), headers, body: serde_json::from_slice(&body).unwrap() })
}
