//! The cost of runs does not depend on earlier runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use serde_json::json;
use superstep::checkpoint::Page;
use superstep::store::{
    Found, Get, Item, ItemWrites, MemoryStore, Namespace, NamespaceQuery, Search, Store, StoreFuture,
};

use crate::client::{Client, server};
use crate::graphs::Gate;

/// A store that counts the items that it reads and writes.
pub(crate) struct Counted {
    store: MemoryStore,
    items: Arc<AtomicUsize>,
}

impl Counted {
    pub(crate) fn new(store: MemoryStore, items: Arc<AtomicUsize>) -> Self {
        Self { store, items }
    }

    fn add(&self, items: usize) {
        self.items.fetch_add(items, Ordering::SeqCst);
    }
}

impl Store for Counted {
    fn get(&self, get: Get) -> StoreFuture<'_, Vec<Option<Item>>> {
        self.add(get.keys.len());
        self.store.get(get)
    }

    fn write(&self, writes: ItemWrites) -> StoreFuture<'_, Vec<bool>> {
        self.add(writes.writes.len());
        self.store.write(writes)
    }

    fn search(&self, search: Search) -> StoreFuture<'_, Page<Found>> {
        Box::pin(async move {
            let page = self.store.search(search).await?;
            self.add(1 + page.items.len());
            Ok(page)
        })
    }

    fn namespaces(&self, query: NamespaceQuery) -> StoreFuture<'_, Page<Namespace>> {
        self.add(1);
        self.store.namespaces(query)
    }

    fn delete_expired(&self, now: SystemTime) -> StoreFuture<'_, u64> {
        self.store.delete_expired(now)
    }
}

#[tokio::test]
async fn the_records_of_a_run_cost_the_same_after_many_runs() {
    let (gate, items) = (Gate::new(), Arc::new(AtomicUsize::new(0)));
    let store = Counted { store: MemoryStore::new(), items: Arc::clone(&items) };
    let client = Client::of(server(&gate).store(superstep::store::LongTermStore::new(store)), gate).await;
    let thread = client.thread().await;
    let path = format!("/threads/{thread}/runs/wait");
    let mut costs = Vec::new();
    for _ in 0..100 {
        let before = items.load(Ordering::SeqCst);
        client.post(&path, json!({ "assistant_id": "fail", "input": { "text": "fine" } })).await.ok();
        client.get(&format!("/threads/{thread}/state")).await.ok();
        client.get(&format!("/threads/{thread}/runs?limit=5")).await.ok();
        costs.push(items.load(Ordering::SeqCst) - before);
    }
    let (early, late) = (costs[10], costs[99]);
    assert_eq!(early, late, "{costs:?}");
    assert!(late < 40, "{late}");
}

#[tokio::test]
async fn stateless_runs_do_not_touch_the_store() {
    let (gate, items) = (Gate::new(), Arc::new(AtomicUsize::new(0)));
    let store = Counted { store: MemoryStore::new(), items: Arc::clone(&items) };
    let client = Client::of(server(&gate).store(superstep::store::LongTermStore::new(store)), gate).await;
    let body = json!({ "assistant_id": "fail", "input": { "text": "fine" } });
    client.post("/runs/wait", body.clone()).await.ok();
    let before = items.load(Ordering::SeqCst);
    for _ in 0..10 {
        client.post("/runs/wait", body.clone()).await.ok();
    }
    // One read of the assistant for each run.
    assert_eq!(items.load(Ordering::SeqCst) - before, 10);
}

/// Returns the items that a request reads.
async fn cost(client: &Client, items: &AtomicUsize, path: &str, body: serde_json::Value) -> usize {
    let before = items.load(Ordering::SeqCst);
    client.post(path, body).await.ok();
    items.load(Ordering::SeqCst) - before
}

#[tokio::test]
async fn lists_that_are_sorted_or_counted_read_each_record_once() {
    let (gate, items) = (Gate::new(), Arc::new(AtomicUsize::new(0)));
    let store = Counted { store: MemoryStore::new(), items: Arc::clone(&items) };
    let client = Client::of(server(&gate).store(superstep::store::LongTermStore::new(store)), gate).await;
    let cron = json!({ "assistant_id": "fail", "schedule": "0 0 1 1 *", "input": { "text": "fine" } });
    let message = json!({ "role": "ROLE_USER", "messageId": "m", "parts": [{ "text": "hi" }] });
    let call = |method: &str, params: serde_json::Value| json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let mut costs = Vec::new();
    for _ in 0..2 {
        let mut made = (0, 0);
        for _ in 0..40 {
            made.0 = cost(&client, &items, "/runs/crons", cron.clone()).await;
            let send = call("SendMessage", json!({ "message": message }));
            made.1 = cost(&client, &items, "/a2a/chat", send).await;
        }
        let search = cost(&client, &items, "/runs/crons/search", json!({ "limit": 5 })).await;
        let count = cost(&client, &items, "/runs/crons/count", json!({})).await;
        let tasks = cost(&client, &items, "/a2a/chat", call("ListTasks", json!({ "pageSize": 5 }))).await;
        costs.push((made, [search, count, tasks]));
    }
    let [(made, once), (made_later, twice)] = costs.as_slice() else { panic!("{costs:?}") };
    // The cost of one more does not depend on the others.
    assert_eq!(made, made_later);
    for (once, twice) in once.iter().zip(twice) {
        assert!(twice <= &(2 * once), "{costs:?}");
    }
}
