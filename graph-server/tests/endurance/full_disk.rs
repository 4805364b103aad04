//! Stores that cannot write, as on a full disk, and that can write again later.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use serde_json::{Value, json};
use superstep::checkpoint::{
    Checkpoint, CheckpointError, CheckpointFuture, CheckpointId, CheckpointQuery, Checkpointer, HistoryEntry,
    Loaded, MemoryCheckpointer, NamespaceQuery as Namespaces, NamespaceRecord, Page, Prune, Pruned,
    ThreadQuery, ThreadRecord, WriteBatch,
};
use superstep::store::{
    Found, Get, Item, ItemWrites, LongTermStore, MemoryStore, Namespace, NamespaceQuery, Search, Store,
    StoreError, StoreFuture,
};
use superstep_server::Server;

use crate::connection::call;
use crate::served::Served;

/// A disk that may be full.
#[derive(Clone, Default)]
struct Disk(Arc<AtomicBool>);

impl Disk {
    fn fill(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    fn make_room(&self) {
        self.0.store(false, Ordering::SeqCst);
    }

    fn write(&self) -> io::Result<()> {
        if self.0.load(Ordering::SeqCst) { Err(io::Error::from(io::ErrorKind::StorageFull)) } else { Ok(()) }
    }
}

struct Checkpoints(MemoryCheckpointer, Disk);

impl Checkpointer for Checkpoints {
    fn commit(&self, batch: WriteBatch) -> CheckpointFuture<'_, ()> {
        Box::pin(async move {
            self.1.write().map_err(|error| CheckpointError::backend("write", error))?;
            self.0.commit(batch).await
        })
    }

    fn get(&self, thread: &str, namespace: &str, at: Option<CheckpointId>) -> CheckpointFuture<'_, Loaded> {
        self.0.get(thread, namespace, at)
    }

    fn list(&self, query: CheckpointQuery) -> CheckpointFuture<'_, Page<Checkpoint>> {
        self.0.list(query)
    }

    fn history(&self, query: CheckpointQuery) -> CheckpointFuture<'_, Page<HistoryEntry>> {
        self.0.history(query)
    }

    fn namespaces(&self, query: Namespaces) -> CheckpointFuture<'_, Page<NamespaceRecord>> {
        self.0.namespaces(query)
    }

    fn threads(&self, query: ThreadQuery) -> CheckpointFuture<'_, Page<ThreadRecord>> {
        self.0.threads(query)
    }

    fn delete(&self, thread: &str, epoch: Option<u64>) -> CheckpointFuture<'_, bool> {
        self.0.delete(thread, epoch)
    }

    fn copy(&self, from: &str, to: &str, epoch: Option<u64>) -> CheckpointFuture<'_, ()> {
        self.0.copy(from, to, epoch)
    }

    fn prune(&self, prune: Prune) -> CheckpointFuture<'_, Pruned> {
        self.0.prune(prune)
    }
}

struct Records(MemoryStore, Disk);

impl Store for Records {
    fn get(&self, get: Get) -> StoreFuture<'_, Vec<Option<Item>>> {
        self.0.get(get)
    }

    fn write(&self, writes: ItemWrites) -> StoreFuture<'_, Vec<bool>> {
        Box::pin(async move {
            self.1.write().map_err(|error| StoreError::backend("write", error))?;
            self.0.write(writes).await
        })
    }

    fn search(&self, search: Search) -> StoreFuture<'_, Page<Found>> {
        self.0.search(search)
    }

    fn namespaces(&self, query: NamespaceQuery) -> StoreFuture<'_, Page<Namespace>> {
        self.0.namespaces(query)
    }

    fn delete_expired(&self, now: SystemTime) -> StoreFuture<'_, u64> {
        self.0.delete_expired(now)
    }
}

async fn served(checkpoints: &Disk, records: &Disk) -> Served {
    let store = Records(MemoryStore::new(), records.clone());
    let checkpointer = Checkpoints(MemoryCheckpointer::new(), checkpoints.clone());
    Served::on(Server::new().checkpointer(checkpointer).store(LongTermStore::new(store))).await
}

fn run() -> Value {
    json!({ "assistant_id": "echo", "input": { "text": "a" } })
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_fail_while_the_disk_is_full_and_work_afterwards() {
    let disk = Disk::default();
    let served = served(&disk, &disk).await;
    let thread = served.thread().await;
    let runs = format!("/threads/{thread}/runs/wait");
    served.ok("POST", &runs, Some(run())).await;
    let before = served.ok("GET", &format!("/threads/{thread}/state"), None).await;
    disk.fill();
    for (method, path, body) in [
        ("POST", "/threads".to_owned(), json!({})),
        ("POST", runs.clone(), run()),
        ("POST", format!("/threads/{thread}/state"), json!({ "values": { "text": "b" } })),
        ("PATCH", format!("/threads/{thread}"), json!({ "metadata": { "a": 1 } })),
        ("POST", "/assistants".to_owned(), json!({ "graph_id": "echo" })),
        ("PUT", "/store/items".to_owned(), json!({ "namespace": ["a"], "key": "k", "value": {} })),
    ] {
        let (status, body) = call(served.address, method, &path, Some(body)).await;
        assert_eq!(status, 500, "{method} {path} {body}");
        assert!(body["detail"].as_str().is_some_and(|detail| detail.contains("store")), "{path} {body}");
    }
    // Reads work, and runs that store nothing do too.
    assert_eq!(served.ok("GET", &format!("/threads/{thread}/state"), None).await, before);
    assert_eq!(served.ok("POST", "/runs/wait", Some(run())).await["log"], json!(["a"]));
    disk.make_room();
    assert_eq!(served.ok("GET", &format!("/threads/{thread}"), None).await["status"], "idle");
    assert_eq!(served.ok("POST", &runs, Some(run())).await["log"], json!(["a", "a"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn run_whose_checkpoints_cannot_be_stored_fails_and_the_next_one_works() {
    let disk = Disk::default();
    let served = served(&disk, &Disk::default()).await;
    let thread = served.thread().await;
    let runs = format!("/threads/{thread}/runs/wait");
    disk.fill();
    for durability in ["sync", "async", "exit"] {
        let mut body = run();
        body["durability"] = durability.into();
        let values = served.ok("POST", &runs, Some(body)).await;
        let message = values["__error__"]["message"].as_str().unwrap_or_default();
        assert!(message.contains("store"), "{durability} {values}");
        let found = served.ok("GET", &format!("/threads/{thread}"), None).await;
        assert_eq!(found["status"], "error", "{durability}");
    }
    let listed = served.ok("GET", &format!("/threads/{thread}/runs"), None).await;
    assert!(listed.as_array().expect("runs").iter().all(|run| run["status"] == "error"), "{listed}");
    disk.make_room();
    assert_eq!(served.ok("POST", &runs, Some(run())).await["log"], json!(["a"]));
    assert_eq!(served.ok("GET", &format!("/threads/{thread}"), None).await["status"], "idle");
}

#[tokio::test(flavor = "multi_thread")]
async fn run_whose_end_cannot_be_stored_still_tells_its_client() {
    let records = Disk::default();
    let served = served(&Disk::default(), &records).await;
    let thread = served.thread().await;
    let body = json!({ "assistant_id": "wait", "input": { "text": "a" } });
    let path = format!("/threads/{thread}/runs/wait");
    let mut waiting =
        crate::connection::send(served.address, &crate::connection::request("POST", &path, Some(&body)))
            .await;
    served.until("the run is active", || served.active.load(Ordering::SeqCst) == 1).await;
    records.fill();
    served.gate.open(1);
    let response = crate::connection::rest(&mut waiting).await;
    let text = String::from_utf8_lossy(&response).into_owned();
    assert!(text.contains(r#""log":["a"]"#), "{text}");
    records.make_room();
    // The state is complete, and the thread takes the next run.
    let run = json!({ "assistant_id": "wait", "input": { "text": "b" } });
    served.gate.open(1);
    assert_eq!(served.ok("POST", &path, Some(run)).await["log"], json!(["a", "b"]));
}
