//! A client that comes back to a run or to a thread costs what it gets.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use axum::http::Method;
use serde_json::{Value, json};
use superstep::checkpoint::{
    Checkpoint, CheckpointFuture, CheckpointId, CheckpointQuery, Checkpointer, HistoryEntry, Loaded,
    MemoryCheckpointer, NamespaceQuery, NamespaceRecord, Page, Prune, Pruned, ThreadQuery, ThreadRecord,
    WriteBatch,
};
use superstep::store::{LongTermStore, MemoryStore};
use superstep::{END, GraphState, Route, START, StateGraph};
use superstep_server::Server;

use crate::client::{Client, read};
use crate::graphs::Gate;
use crate::thread_client::{Events, new_thread};

/// Counts the checkpoints that a store returns.
#[derive(Clone, Default)]
struct Counted {
    inner: Arc<MemoryCheckpointer>,
    read: Arc<AtomicUsize>,
}

impl Counted {
    fn add(&self, count: usize) {
        self.read.fetch_add(count, Ordering::SeqCst);
    }

    fn take(&self) -> usize {
        self.read.swap(0, Ordering::SeqCst)
    }
}

impl Checkpointer for Counted {
    fn commit(&self, batch: WriteBatch) -> CheckpointFuture<'_, ()> {
        self.inner.commit(batch)
    }

    fn get(&self, thread: &str, namespace: &str, at: Option<CheckpointId>) -> CheckpointFuture<'_, Loaded> {
        self.add(1);
        self.inner.get(thread, namespace, at)
    }

    fn list(&self, query: CheckpointQuery) -> CheckpointFuture<'_, Page<Checkpoint>> {
        Box::pin(async move {
            let page = self.inner.list(query).await?;
            self.add(page.items.len());
            Ok(page)
        })
    }

    fn history(&self, query: CheckpointQuery) -> CheckpointFuture<'_, Page<HistoryEntry>> {
        Box::pin(async move {
            let page = self.inner.history(query).await?;
            self.add(page.items.len());
            Ok(page)
        })
    }

    fn namespaces(&self, query: NamespaceQuery) -> CheckpointFuture<'_, Page<NamespaceRecord>> {
        self.inner.namespaces(query)
    }

    fn threads(&self, query: ThreadQuery) -> CheckpointFuture<'_, Page<ThreadRecord>> {
        self.inner.threads(query)
    }

    fn delete(&self, thread: &str, epoch: Option<u64>) -> CheckpointFuture<'_, bool> {
        self.inner.delete(thread, epoch)
    }

    fn copy(&self, from: &str, to: &str, epoch: Option<u64>) -> CheckpointFuture<'_, ()> {
        self.inner.copy(from, to, epoch)
    }

    fn prune(&self, prune: Prune) -> CheckpointFuture<'_, Pruned> {
        self.inner.prune(prune)
    }
}

#[derive(GraphState, Clone)]
struct Tally {
    #[state(input)]
    left: u32,
}

#[derive(Route)]
enum Again {
    #[to(count)]
    Again,
    #[to(END)]
    Out,
}

async fn count(tally: &Tally) -> (TallyUpdate, Again) {
    let again = if tally.left > 1 { Again::Again } else { Again::Out };
    (Tally::update().left(tally.left.saturating_sub(1)), again)
}

/// A server of a graph with as many supersteps as its input says.
async fn client(checkpointer: &Counted, store: &MemoryStore) -> Client {
    let graph = StateGraph::<Tally>::new().edge(START, count).node(count).compile().unwrap();
    let server = Server::new().graph("tally", graph).checkpointer(checkpointer.clone());
    Client::of(server.store(LongTermStore::new(store.clone())), Gate::new()).await
}

fn request(steps: usize) -> Value {
    json!({
        "assistant_id": "tally", "input": { "left": steps }, "config": { "recursion_limit": steps + 1 },
        "stream_mode": ["values"], "stream_resumable": true,
    })
}

/// Comes back to the stream of a run, and returns the ids of its events.
async fn rejoin(client: &Client, run: &str, last: &str) -> Vec<String> {
    let response = client.send(Method::GET, &format!("{run}/stream"), None, &[("last-event-id", last)]).await;
    read(response).await.events().into_iter().map(|(.., id)| id.unwrap()).collect()
}

#[tokio::test]
async fn replay_of_stored_events_reads_what_it_returns() {
    let (checkpointer, store) = (Counted::default(), MemoryStore::new());
    let mut costs = Vec::new();
    for steps in [100, 200] {
        let first = client(&checkpointer, &store).await;
        let thread = first.thread().await;
        let reply = first.post(&format!("/threads/{thread}/runs/stream"), request(steps)).await;
        let run = reply.header("content-location").to_owned();
        let sent: Vec<_> = reply.events().into_iter().map(|(.., id)| id.unwrap()).collect();
        // Another process, which has no log of the run.
        let second = client(&checkpointer, &store).await;
        checkpointer.take();
        assert_eq!(rejoin(&second, &run, "-1").await.len(), sent.len());
        let all = checkpointer.take();
        assert_eq!(rejoin(&second, &run, &sent[sent.len() - 6]).await.len(), 5);
        costs.push((all, checkpointer.take()));
    }
    let [(all, end), (twice, later_end)] = costs[..] else { panic!("{costs:?}") };
    assert!(twice <= 2 * all, "{costs:?}");
    // The last events cost the same, however many there were before.
    assert_eq!(end, later_end, "{costs:?}");
    assert!(2 * end < all, "{costs:?}");
}

/// Returns the least time of some calls.
async fn least(mut call: impl AsyncFnMut()) -> Duration {
    let mut least = Duration::MAX;
    for _ in 0..5 {
        let start = Instant::now();
        call().await;
        least = least.min(start.elapsed());
    }
    least
}

#[tokio::test]
async fn replay_of_kept_events_takes_time_in_proportion_to_them() {
    let client = client(&Counted::default(), &MemoryStore::new()).await;
    let mut replays = Vec::new();
    for steps in [300, 600] {
        let thread = new_thread();
        let path = format!("/threads/{thread}/runs/stream");
        // Its reader lets the server keep the events of the thread.
        let mut events = Events::open(&client, &thread, json!({ "channels": ["values", "lifecycle"] })).await;
        let mut body = request(steps);
        body["if_not_exists"] = "create".into();
        let reply = client.post(&path, body).await;
        let count = events.until_end().await.len();
        assert!(count > steps, "{count}");
        let run = reply.header("content-location").to_owned();
        let sent: Vec<_> = reply.events().into_iter().map(|(.., id)| id.unwrap()).collect();
        replays.push((thread, run, sent, count));
    }
    let mut times = [[Duration::MAX; 2]; 2];
    // Another program can slow some of the calls: more of them have a least time without it.
    for _ in 0..10 {
        for ((thread, run, sent, count), [of_run, of_thread]) in replays.iter().zip(&mut times) {
            let replay = least(async || assert_eq!(rejoin(&client, run, "-1").await, *sent)).await;
            *of_run = replay.min(*of_run);
            let replay = least(async || {
                let request = json!({ "channels": ["values", "lifecycle"] });
                let replayed = Events::open(&client, thread, request).await.until_end().await;
                assert_eq!(replayed.len(), *count);
            });
            *of_thread = replay.await.min(*of_thread);
        }
        // A cost in proportion to the square would be four times as much.
        if times[0].iter().zip(times[1]).all(|(once, twice)| twice < *once * 3) {
            return;
        }
    }
    panic!("{times:?}");
}
