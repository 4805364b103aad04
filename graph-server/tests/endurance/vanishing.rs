//! Clients that vanish at every moment of a request and of its response.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;

use crate::connection::{request, rest, send};
use crate::served::Served;

/// The server serves others, and no run of the clients is left.
async fn is_well(served: &Served) {
    served.until("the runs are cancelled", || served.active.load(Ordering::SeqCst) == 0).await;
    let run = json!({ "assistant_id": "echo", "input": { "text": "b" } });
    assert_eq!(served.ok("POST", "/runs/wait", Some(run)).await["log"], json!(["b"]));
    // A thread is idle once the runs that wait on it are cancelled too, one after the other.
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let search = json!({ "status": "busy", "limit": 1_000 });
        let busy = served.ok("POST", "/threads/search", Some(search)).await;
        if busy == json!([]) {
            break;
        }
        assert!(Instant::now() < deadline, "threads stay busy: {busy}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let began = Instant::now();
    served.started.shutdown(Duration::from_secs(10)).await;
    assert!(began.elapsed() < Duration::from_secs(5), "runs are left");
}

fn run(graph: &str) -> Value {
    json!({
        "assistant_id": graph, "input": { "text": "a" }, "on_disconnect": "cancel", "if_not_exists": "create",
        "stream_mode": ["values", "updates", "tasks"],
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_may_end_after_any_byte() {
    let served = Served::new().await;
    let thread = served.thread().await;
    for path in ["/runs/wait", "/runs/stream", &format!("/threads/{thread}/runs/stream"), "/mcp", "/a2a/echo"]
    {
        let bytes = request("POST", path, Some(&run("echo")));
        for length in 0..=bytes.len() {
            drop(send(served.address, &bytes[..length]).await);
        }
    }
    is_well(&served).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_may_vanish_after_any_byte_of_a_response() {
    let served = Served::new().await;
    for path in ["stream", "wait"] {
        let thread = served.thread().await;
        let path = format!("/threads/{thread}/runs/{path}");
        let whole = rest(&mut send(served.address, &request("POST", &path, Some(&run("echo")))).await).await;
        for length in (0..whole.len()).step_by(7) {
            let mut connection = send(served.address, &request("POST", &path, Some(&run("echo")))).await;
            let mut read = vec![0; length];
            connection.read_exact(&mut read).await.expect("the response comes");
        }
    }
    is_well(&served).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_may_vanish_while_their_runs_wait() {
    let served = Served::new().await;
    let (thread, other) = (served.thread().await, served.thread().await);
    for round in 0..20 {
        let mut connections = Vec::new();
        for path in [
            "/runs/stream".to_owned(),
            "/runs/wait".to_owned(),
            format!("/threads/{thread}/runs/stream"),
            // It waits behind the others of its thread.
            format!("/threads/{thread}/runs/wait"),
            format!("/threads/{other}/runs/wait"),
        ] {
            connections.push(send(served.address, &request("POST", &path, Some(&run("wait")))).await);
        }
        if round % 2 == 0 {
            served.until("runs are active", || served.active.load(Ordering::SeqCst) >= 1).await;
        }
    }
    is_well(&served).await;
}
