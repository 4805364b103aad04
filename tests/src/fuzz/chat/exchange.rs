//! A model and its server on one thread. All cases share the server and its connections.

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::time::{Duration, Instant};

use superstep::messages::{AiMessage, MessageChunk};
use superstep_agent::{ChatModel as _, ChatRequest, ModelError, OpenAiBuilder, OpenAiModel};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::task::LocalSet;

use super::invariants::SECRETS;

/// The time after which a request counts as hanging.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The maximum sizes of a model: of a reply, and of an event.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) reply: usize,
    pub(super) event: usize,
}

impl Limits {
    /// The first has room for every input of a fuzzer.
    const ALL: [Self; 3] = [
        Self { reply: 1 << 26, event: 1 << 24 },
        Self { reply: 1024, event: 200 },
        Self { reply: 300, event: 300 },
    ];

    pub(super) const NONE: Self = Self::ALL[0];

    /// Returns small limits. `number` chooses them.
    pub(super) fn small(number: u8) -> Self {
        if number.is_multiple_of(2) { Self::ALL[1] } else { Self::ALL[2] }
    }
}

/// A chunk of a reply, or the error that ended it.
pub(super) type Streamed = (Vec<MessageChunk>, Result<(), ModelError>);

/// The answer of the server.
#[derive(Clone, Debug, Default)]
pub(super) struct Answer {
    bytes: Vec<u8>,
    /// The connection is closed afterwards.
    is_last: bool,
}

impl Answer {
    /// Returns an answer with these parts as its body, each in an HTTP chunk. The client reads them one by one.
    pub(super) fn chunked<'p>(
        status: u16,
        kind: Option<&str>,
        parts: impl IntoIterator<Item = &'p [u8]>,
    ) -> Self {
        let mut bytes = head(status, kind);
        bytes.extend_from_slice(b"transfer-encoding: chunked\r\n\r\n");
        for part in parts.into_iter().filter(|part| !part.is_empty()) {
            bytes.extend_from_slice(format!("{:x}\r\n", part.len()).as_bytes());
            bytes.extend_from_slice(part);
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(b"0\r\n\r\n");
        Self { bytes, is_last: false }
    }

    /// Returns an answer with an announced length.
    pub(super) fn with_length(status: u16, kind: Option<&str>, body: &[u8]) -> Self {
        let mut bytes = head(status, kind);
        bytes.extend_from_slice(format!("content-length: {}\r\n\r\n", body.len()).as_bytes());
        bytes.extend_from_slice(body);
        Self { bytes, is_last: false }
    }

    /// Breaks the connection just before the end of the answer.
    pub(super) fn broken(mut self) -> Self {
        self.bytes.truncate(self.bytes.len().saturating_sub(5));
        Self { is_last: true, ..self }
    }
}

fn head(status: u16, kind: Option<&str>) -> Vec<u8> {
    let kind = kind.map(|kind| format!("content-type: {kind}\r\n")).unwrap_or_default();
    format!("HTTP/1.1 {status} Of a test\r\n{kind}").into_bytes()
}

/// Requests a complete reply.
pub(super) fn complete(limits: Limits, answer: Answer) -> Result<AiMessage, ModelError> {
    ENDPOINT.with(|endpoint| {
        endpoint.run(answer, async {
            let request = ChatRequest::new(["why?"]);
            endpoint.model(limits).complete(&request).await
        })
    })
}

/// Requests a streamed reply.
pub(super) fn stream(limits: Limits, answer: Answer) -> Streamed {
    ENDPOINT.with(|endpoint| {
        endpoint.run(answer, async {
            let request = ChatRequest::new(["why?"]);
            let mut stream = endpoint.model(limits).stream(&request);
            let mut chunks = Vec::new();
            let end = loop {
                match poll_fn(|cx| stream.as_mut().poll_next(cx)).await {
                    None => break Ok(()),
                    Some(Ok(chunk)) => chunks.push(chunk),
                    Some(Err(error)) => break Err(error),
                }
            };
            assert!(poll_fn(|cx| stream.as_mut().poll_next(cx)).await.is_none(), "an item follows the end");
            (chunks, end)
        })
    })
}

thread_local! {
    static ENDPOINT: Endpoint = Endpoint::start();
}

struct Endpoint {
    runtime: Runtime,
    tasks: LocalSet,
    next: Rc<RefCell<Answer>>,
    models: Vec<OpenAiModel>,
}

impl Endpoint {
    fn start() -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let (tasks, next) = (LocalSet::new(), Rc::<RefCell<Answer>>::default());
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        tasks.spawn_local(serve(listener, Rc::clone(&next)));
        let builder = |limits: &Limits| -> OpenAiBuilder {
            OpenAiModel::builder("test-model")
                .endpoint(format!("http://{address}/v1"))
                .key(SECRETS[0])
                .header("x-api-key", format!("Basic {}", SECRETS[1]))
                .timeout(TIMEOUT)
                .max_retries(0)
                .max_reply_size(limits.reply)
                .max_event_size(limits.event)
        };
        let models = Limits::ALL.iter().map(|limits| builder(limits).build().unwrap()).collect();
        Self { runtime, tasks, next, models }
    }

    fn model(&self, limits: Limits) -> &OpenAiModel {
        let same = |all: &Limits| (all.reply, all.event) == (limits.reply, limits.event);
        let number = Limits::ALL.iter().position(same).unwrap();
        self.models.get(number).unwrap()
    }

    /// Runs a request that gets this answer.
    fn run<T>(&self, answer: Answer, request: impl Future<Output = T>) -> T {
        self.next.replace(answer);
        let start = Instant::now();
        let limited = async { tokio::time::timeout(TIMEOUT, request).await };
        let result = self.tasks.block_on(&self.runtime, limited).expect("a request hangs");
        // A poll that does not return for long is not interrupted by the timeout.
        assert!(start.elapsed() < TIMEOUT, "a request takes {:?}", start.elapsed());
        result
    }
}

async fn serve(listener: TcpListener, next: Rc<RefCell<Answer>>) {
    loop {
        let (socket, _) = listener.accept().await.unwrap();
        socket.set_nodelay(true).unwrap();
        tokio::task::spawn_local(answer_all(socket, Rc::clone(&next)));
    }
}

/// Answers the requests of a connection until the client closes it.
async fn answer_all(mut socket: TcpStream, next: Rc<RefCell<Answer>>) {
    while read_request(&mut socket).await.is_some() {
        let answer = next.borrow().clone();
        // A client closes the connection in the middle of an answer that it refuses.
        if socket.write_all(&answer.bytes).await.is_err() || answer.is_last {
            return;
        }
    }
}

/// Reads a request. Returns `None` if the client has disconnected.
async fn read_request(socket: &mut TcpStream) -> Option<()> {
    let (mut request, mut part) = (Vec::new(), [0; 2048]);
    loop {
        let read = socket.read(&mut part).await.ok().filter(|read| *read > 0)?;
        request.extend_from_slice(part.get(..read)?);
        let text = String::from_utf8_lossy(&request).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let head = head.to_ascii_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        if body.len() >= length.parse().unwrap() {
            return Some(());
        }
    }
}
