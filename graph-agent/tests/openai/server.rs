//! A chat endpoint on loopback that does what a test says, and remembers what it was sent.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use serde_json::Value;

/// Ends with the test that has started it.
pub(crate) struct Server {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    closed: Arc<AtomicBool>,
    /// The connection that is answered. A test whose client runs on the thread on which it ends would else wait for itself.
    open: Arc<Mutex<Option<TcpStream>>>,
    /// Hears of each client that has left during a silence.
    left: Receiver<()>,
    thread: Option<JoinHandle<()>>,
}

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) line: String,
    /// With names in lower case, as they came.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Value,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(header, _)| header == name).map(|(_, value)| value.as_str())
    }
}

/// What the server does with a request.
#[derive(Clone)]
pub(crate) struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    pieces: Vec<Vec<u8>>,
    framing: Framing,
}

#[derive(Clone, Copy, PartialEq)]
enum Framing {
    /// With its length.
    Length,
    /// Each piece by itself: a client gets them apart.
    Chunks,
    /// Chunks without the last one, which says that they are all.
    CutChunks,
    /// Until the connection is closed.
    Close,
    /// Chunks, and then nothing for as long as the client waits.
    Silence,
}

impl Answer {
    pub(crate) fn text(status: u16, content_type: &str, text: &str) -> Self {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        Self { status, headers, pieces: vec![text.as_bytes().to_vec()], framing: Framing::Length }
    }

    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self::text(status, "application/json", &body.to_string())
    }

    /// A stream of these bytes.
    pub(crate) fn stream(text: &str) -> Self {
        Self { framing: Framing::Chunks, ..Self::text(200, "text/event-stream", text) }
    }

    /// A stream of an event for each of these, and of the one that ends it.
    pub(crate) fn events(events: &[Value]) -> Self {
        let mut answer = Self::stream("");
        answer.pieces = events.iter().map(|event| format!("data: {event}\n\n").into_bytes()).collect();
        answer.pieces.push(b"data: [DONE]\n\n".to_vec());
        answer
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same bytes in pieces of so many.
    pub(crate) fn split(mut self, bytes: usize) -> Self {
        self.pieces = self.pieces.concat().chunks(bytes).map(<[u8]>::to_vec).collect();
        self
    }

    /// Only the first so many pieces; then the connection is closed as if it had broken.
    pub(crate) fn cut(mut self, pieces: usize) -> Self {
        self.pieces.truncate(pieces);
        Self { framing: Framing::CutChunks, ..self }
    }

    /// Only the first so many pieces; then the connection is closed as if that were all.
    pub(crate) fn closed(mut self, pieces: usize) -> Self {
        self.pieces.truncate(pieces);
        Self { framing: Framing::Close, ..self }
    }

    /// Only the first so many pieces; then nothing.
    pub(crate) fn silent(mut self, pieces: usize) -> Self {
        self.pieces.truncate(pieces);
        Self { framing: Framing::Silence, ..self }
    }

    fn write(&self, socket: &mut TcpStream, left: &Sender<()>) -> std::io::Result<()> {
        let mut head = format!("HTTP/1.1 {} Of a test\r\nconnection: close\r\n", self.status);
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        match self.framing {
            Framing::Length => {
                head += &format!("content-length: {}\r\n", self.pieces.iter().map(Vec::len).sum::<usize>());
            }
            Framing::Close => {}
            Framing::Chunks | Framing::CutChunks | Framing::Silence => {
                head += "transfer-encoding: chunked\r\n";
            }
        }
        socket.write_all(format!("{head}\r\n").as_bytes())?;
        for piece in self.pieces.iter().filter(|piece| !piece.is_empty()) {
            match self.framing {
                Framing::Length | Framing::Close => socket.write_all(piece)?,
                _ => {
                    let chunk = [format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat();
                    socket.write_all(&chunk)?;
                }
            }
        }
        if self.framing == Framing::Chunks {
            socket.write_all(b"0\r\n\r\n")?;
        }
        socket.flush()?;
        if self.framing == Framing::Silence {
            // Until the client has had enough.
            let _ = socket.read(&mut [0]);
            let _ = left.send(());
        }
        Ok(())
    }
}

impl Server {
    /// Gives these answers one after the other, and the last one to every further request.
    pub(crate) fn start(answers: impl IntoIterator<Item = Answer>) -> Self {
        let mut answers = answers.into_iter().collect::<Vec<_>>().into_iter();
        let mut last = None;
        Self::answering(move |_| {
            last = answers.next().or(last.take());
            last.clone().unwrap()
        })
    }

    /// Gives the answer that is made of each request.
    pub(crate) fn answering(mut answer: impl FnMut(&Seen) -> Answer + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (seen, closed) = (Arc::<Mutex<Vec<Seen>>>::default(), Arc::<AtomicBool>::default());
        let open = Arc::<Mutex<Option<TcpStream>>>::default();
        let (tell, left) = channel();
        let (all, is_closed, now_open) = (Arc::clone(&seen), Arc::clone(&closed), Arc::clone(&open));
        let thread = std::thread::spawn(move || {
            for socket in listener.incoming() {
                let mut socket = socket.unwrap();
                *now_open.lock().unwrap() = Some(socket.try_clone().unwrap());
                if is_closed.load(Ordering::SeqCst) {
                    break;
                }
                if let Some(request) = read(&socket) {
                    all.lock().unwrap().push(request.clone());
                    // A client may go away in the middle of an answer.
                    let _ = answer(&request).write(&mut socket, &tell);
                }
                // The last handle closes it.
                *now_open.lock().unwrap() = None;
            }
        });
        Self { address, seen, closed, open, left, thread: Some(thread) }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The requests that it got.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// Waits until a client has left during a silence.
    pub(crate) fn wait_until_left(&self) {
        self.left.recv_timeout(crate::PATIENCE).unwrap();
    }

    /// The one request that it got.
    pub(crate) fn only(&self) -> Seen {
        let seen = self.seen();
        assert_eq!(seen.len(), 1, "{seen:?}");
        seen[0].clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::SeqCst);
        if let Some(open) = &*self.open.lock().unwrap() {
            let _ = open.shutdown(Shutdown::Both);
        }
        // Wakes it.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(ended.is_ok() || std::thread::panicking(), "the server has panicked");
        }
    }
}

/// None when the client has gone away.
fn read(socket: &TcpStream) -> Option<Seen> {
    let mut reader = BufReader::new(socket);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        let line = line.strip_suffix("\r\n").expect("lines of a head end so").to_owned();
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
    Some(Seen { line: lines[0].clone(), headers, body: serde_json::from_slice(&body).unwrap() })
}
