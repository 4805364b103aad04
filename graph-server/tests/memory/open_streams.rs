//! Many streams at once, and readers that do not read.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;

use crate::connection::{LIMIT, request, rest, send, status, unchunked};
use crate::served::Served;

/// Returns the resident memory of the process in bytes, where the system tells it.
fn resident() -> Option<usize> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(statm.split(' ').nth(1)?.parse::<usize>().ok()? * 4096)
}

/// Returns the growth of the memory since an earlier moment.
fn growth(since: Option<usize>) -> usize {
    resident().zip(since).map_or(0, |(now, before)| now.saturating_sub(before))
}

/// Reads the head of a response, and returns its status.
async fn head(connection: &mut TcpStream) -> u16 {
    let mut head = Vec::new();
    let reading = async {
        while !head.ends_with(b"\r\n\r\n") {
            head.push(connection.read_u8().await.expect("the head of a response"));
        }
    };
    tokio::time::timeout(LIMIT, reading).await.expect("the head comes");
    status(&head).expect("a status")
}

fn wait_run() -> Value {
    json!({ "assistant_id": "wait", "input": { "text": "a" }, "on_disconnect": "cancel" })
}

/// The memory of a stream of a run and of a request that waits for a run, in bytes: of its connection, of both ends of its socket, and
/// of the run. Without optimization, futures are larger.
const RUN_STREAM_BYTES: usize = if cfg!(debug_assertions) { 24_000 } else { 20_000 };

/// The memory of a stream of a thread, which has no run.
const THREAD_STREAM_BYTES: usize = 10_000;

/// The request for the events of a thread, over a WebSocket.
fn upgrade(path: &str) -> Vec<u8> {
    format!(
        "GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
         sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    .into_bytes()
}

/// Opens streams of threads, and returns them with the memory of each.
async fn open_threads(served: &Served, count: usize, over_socket: bool) -> (Vec<TcpStream>, usize) {
    let before = resident();
    let mut open = Vec::with_capacity(count);
    for n in 0..count {
        let thread = format!("01900000-0000-7000-8000-{}{n:011x}", u8::from(over_socket));
        let path = format!("/threads/{thread}/stream/events");
        let body = json!({ "channels": ["values", "lifecycle"] });
        let bytes = if over_socket { upgrade(&path) } else { request("POST", &path, Some(&body)) };
        let mut stream = send(served.address, &bytes).await;
        assert_eq!(head(&mut stream).await, if over_socket { 101 } else { 200 });
        open.push(stream);
    }
    (open, growth(before) / count)
}

/// Opens requests for runs that wait, and returns them with the memory of each. `active` runs wait already.
async fn open_runs(served: &Served, path: &str, count: usize, active: usize) -> (Vec<TcpStream>, usize) {
    let before = resident();
    let body = request("POST", path, Some(&wait_run()));
    let mut open = Vec::with_capacity(count);
    for _ in 0..count {
        let mut stream = send(served.address, &body).await;
        assert_eq!(head(&mut stream).await, 200);
        open.push(stream);
    }
    let all = active + count;
    served.until("all runs are active", || served.active.load(Ordering::SeqCst) == all).await;
    (open, growth(before) / count)
}

/// Returns the number of streams: a thousand, or fewer if the process may not open as many files.
fn streams() -> usize {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits.lines().find(|line| line.starts_with("Max open files"));
    let files = line.and_then(|line| line.split_whitespace().nth(3)?.parse::<usize>().ok());
    // Both ends of each are in this process. As many streams of threads follow, and half as many requests that wait.
    files.map_or(1_000, |files| (files.saturating_sub(200) / 5).min(1_000))
}

// One test after the other: they look at the memory of the process.
#[tokio::test(flavor = "multi_thread")]
async fn many_slow_clients_cost_little_and_do_not_slow_others() {
    a_thousand_open_streams().await;
    a_reader_that_does_not_read().await;
    many_readers_that_do_not_read().await;
}

async fn a_thousand_open_streams() {
    let (served, count) = (Served::new().await, streams());
    served.ok("POST", "/runs/wait", Some(json!({ "assistant_id": "echo", "input": { "text": "a" } }))).await;
    let (mut open, each) = open_runs(&served, "/runs/stream", count, 0).await;
    assert!(each < RUN_STREAM_BYTES, "{each} bytes for each stream");
    let (waiting, of_waiting) = open_runs(&served, "/runs/wait", count / 2, count).await;
    assert!(of_waiting < RUN_STREAM_BYTES, "{of_waiting} bytes for each request that waits");
    let (events, of_events) = open_threads(&served, count / 2, false).await;
    let (sockets, of_sockets) = open_threads(&served, count / 2, true).await;
    for each in [of_events, of_sockets] {
        assert!(each < THREAD_STREAM_BYTES, "{each} bytes for each stream of a thread");
    }
    drop((events, sockets, waiting));
    served
        .until("the runs of requests that wait are cancelled", || {
            served.active.load(Ordering::SeqCst) == count
        })
        .await;
    // Others are served meanwhile.
    let began = Instant::now();
    for _ in 0..100 {
        let run = json!({ "assistant_id": "echo", "input": { "text": "b" } });
        assert_eq!(served.ok("POST", "/runs/wait", Some(run)).await["log"], json!(["b"]));
    }
    assert!(began.elapsed() < Duration::from_secs(10), "{:?} for 100 runs", began.elapsed());
    // Half of the clients vanish, and their runs with them.
    let left = count / 2;
    open.truncate(left);
    served.until("runs are cancelled", || served.active.load(Ordering::SeqCst) == left).await;
    served.gate.open(left);
    for mut stream in open {
        let text = String::from_utf8_lossy(&rest(&mut stream).await).into_owned();
        assert!(unchunked(&text).contains(r#""log":["a"]"#), "{text}");
    }
    assert_eq!(served.active.load(Ordering::SeqCst), 0);
    println!(
        "{each} bytes for each of {count} open streams, {of_waiting} for requests that wait, {of_events} and {of_sockets} for \
         streams of threads"
    );
}

/// The events of a run whose log is full in the end.
const EVENTS: u64 = 280;
const BYTES: usize = 64 << 10;

fn flood(events: u64) -> Value {
    json!({ "assistant_id": "flood", "input": { "events": events, "bytes": BYTES }, "stream_mode": "custom" })
}

/// Reads the numbers of the events of a flood.
fn numbers(response: &[u8]) -> Vec<u64> {
    let text = unchunked(&String::from_utf8_lossy(response));
    let data = text.split("\r\n").filter_map(|line| line.strip_prefix("data: [")?.split_once(','));
    data.filter_map(|(n, _)| n.parse().ok()).collect()
}

async fn a_reader_that_does_not_read() {
    let served = Served::new().await;
    let thread = served.thread().await;
    let path = format!("/threads/{thread}/runs/stream");
    let before = resident();
    let mut idle = send(served.address, &request("POST", &path, Some(&flood(3 * EVENTS)))).await;
    assert_eq!(head(&mut idle).await, 200);
    // The run does not wait for its client, and another one sees its end.
    let runs = served.ok("GET", &format!("/threads/{thread}/runs"), None).await;
    let run = runs[0]["run_id"].as_str().expect("an id").to_owned();
    let values = served.ok("GET", &format!("/threads/{thread}/runs/{run}/join"), None).await;
    assert_eq!(values["events"], 3 * EVENTS);
    // 52 MiB of events were sent. The log keeps 16 MiB of them.
    let grown = growth(before);
    assert!(grown < 40 << 20, "{grown} bytes");
    // The client comes back to life: it gets the events in order, and is told that some are missing.
    let response = rest(&mut idle).await;
    let seen = numbers(&response);
    assert!(!seen.is_empty() && seen.iter().copied().eq(0..seen.len() as u64), "{:?}", seen.first());
    assert!((seen.len() as u64) < 3 * EVENTS);
    assert!(String::from_utf8_lossy(&response).contains("StreamLagError"));
}

/// The logs of so many runs would have three times the limit of all.
const READERS: usize = 48;

async fn many_readers_that_do_not_read() {
    let served = Served::new().await;
    let before = resident();
    let mut idle = Vec::new();
    for _ in 0..READERS {
        let mut stream = send(served.address, &request("POST", "/runs/stream", Some(&flood(EVENTS)))).await;
        assert_eq!(head(&mut stream).await, 200);
        idle.push(stream);
    }
    // A client that reads gets everything that it can keep up with, in order.
    let small = json!({
        "assistant_id": "flood", "input": { "events": 200, "bytes": 1_000 }, "stream_mode": "custom",
    });
    let mut reader = send(served.address, &request("POST", "/runs/stream", Some(&small))).await;
    assert_eq!(head(&mut reader).await, 200);
    let seen = tokio::time::timeout(LIMIT, rest(&mut reader)).await.expect("it is not slowed down");
    assert!(numbers(&seen).into_iter().eq(0..200), "{} events", numbers(&seen).len());
    // Each run may keep 16 MiB, and all of them 192 MiB. The allocator, the sockets and the runs add to this.
    let grown = growth(before);
    assert!(grown < 560 << 20, "{grown} bytes");
    for stream in &mut idle {
        stream.read_u8().await.expect("the connection is open");
    }
}
