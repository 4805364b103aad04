//! Servers that stop, and the next one on the same stores.

use std::sync::Arc;
use std::time::Duration;

use axum::http::Method;
use serde_json::{Value, json};
use superstep::checkpoint::MemoryCheckpointer;
use superstep::store::{LongTermStore, MemoryStore};

use crate::client::{Client, read, server};
use crate::graphs::Gate;

/// Stores that outlive a server.
struct Stores {
    checkpointer: Arc<MemoryCheckpointer>,
    store: LongTermStore,
}

impl Stores {
    fn new() -> Self {
        Self {
            checkpointer: Arc::new(MemoryCheckpointer::new()),
            store: LongTermStore::new(MemoryStore::new()),
        }
    }

    async fn serve(&self, gate: &Gate) -> Client {
        let server = server(gate).checkpointer(Arc::clone(&self.checkpointer)).store(self.store.clone());
        Client::of(server, gate.clone()).await
    }
}

fn slow(name: &str) -> Value {
    json!({ "assistant_id": "slow", "input": { "name": name } })
}

#[tokio::test]
async fn the_next_server_continues_the_runs_of_one_that_stops() {
    let (stores, gate) = (Stores::new(), Gate::new());
    let first = stores.serve(&gate).await;
    let thread = first.thread().await;
    let path = format!("/threads/{thread}/runs");
    let runs = [first.post(&path, slow("a")).await.ok(), first.post(&path, slow("b")).await.ok()];
    first.gate.begun(1).await;
    // The node does not end in time, so it is stopped.
    first.server.shutdown(Duration::from_millis(20)).await;
    let stopped = first.get(&format!("/threads/{thread}/state")).await.ok();
    assert_eq!(stopped["values"]["log"], json!(["a begins"]));

    let second = stores.serve(&gate).await;
    gate.open(2);
    for run in &runs {
        assert_eq!(second.ended(&thread, run["run_id"].as_str().unwrap()).await["status"], "success");
    }
    let state = second.get(&format!("/threads/{thread}/state")).await.ok();
    assert_eq!(state["values"]["log"], json!(["a begins", "a done", "b begins", "b done"]));
}

#[tokio::test]
async fn a_run_that_ends_in_time_is_not_continued() {
    let (stores, gate) = (Stores::new(), Gate::new());
    let first = stores.serve(&gate).await;
    let thread = first.thread().await;
    let run = first.post(&format!("/threads/{thread}/runs"), slow("a")).await.ok();
    gate.begun(1).await;
    let stopping = tokio::spawn({
        let server = first.server.clone();
        async move { server.shutdown(Duration::from_secs(10)).await }
    });
    tokio::task::yield_now().await;
    gate.open(1);
    stopping.await.unwrap();
    let second = stores.serve(&gate).await;
    assert_eq!(second.ended(&thread, run["run_id"].as_str().unwrap()).await["status"], "success");
    let state = second.get(&format!("/threads/{thread}/state")).await.ok();
    assert_eq!(state["values"]["log"], json!(["a begins", "a done"]));
    assert_eq!(gate.begun.load(std::sync::atomic::Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_run_whose_graph_is_not_served_waits_for_a_server_that_has_it() {
    let (stores, gate) = (Stores::new(), Gate::new());
    let first = stores.serve(&gate).await;
    let thread = first.thread().await;
    let run = first.post(&format!("/threads/{thread}/runs"), slow("a")).await.ok();
    gate.begun(1).await;
    first.server.shutdown(Duration::ZERO).await;
    let other = superstep_server::Server::new()
        .graph("order", crate::graphs::order())
        .checkpointer(Arc::clone(&stores.checkpointer))
        .store(stores.store.clone());
    let other = Client::of(other, gate.clone()).await;
    other.get(&format!("/threads/{thread}/state")).await.refused(404);
    let third = stores.serve(&gate).await;
    gate.open(1);
    assert_eq!(third.ended(&thread, run["run_id"].as_str().unwrap()).await["status"], "success");
}

/// The number in an id of an event is what a client sends.
#[tokio::test]
async fn a_client_that_comes_back_with_the_greatest_id_is_served() {
    let (stores, gate) = (Stores::new(), Gate::new());
    let first = stores.serve(&gate).await;
    gate.open(1);
    let thread = first.thread().await;
    let mut body = slow("a");
    body["stream_resumable"] = json!(true);
    let run = first.post(&format!("/threads/{thread}/runs"), body).await.ok();
    let run = run["run_id"].as_str().unwrap();
    first.ended(&thread, run).await;
    first.server.shutdown(Duration::from_secs(1)).await;

    let second = stores.serve(&gate).await;
    let path = format!("/threads/{thread}/runs/{run}/stream");
    for last in ["1.18446744073709551615", "18446744073709551615.18446744073709551615", "0.0"] {
        let response = second.send(Method::GET, &path, None, &[("last-event-id", last)]).await;
        assert_eq!(read(response).await.status, 200, "{last}");
    }
}
