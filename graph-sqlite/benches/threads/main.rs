//! Measures the cost of a run on a thread next to inserting the same bytes by hand, the size of its file, and the cost
//! of reading a state next to decoding its value.

#![expect(clippy::expect_used, reason = "a bench that cannot run must stop")]

mod by_hand;
mod message;

use std::cell::Cell;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use paired::{extent, is_selected, measuring, pair};
use rusqlite::Connection;
use superstep::{Durability, Graph, GraphState, START, StateGraph};
use superstep_sqlite::{SqliteCheckpointer, Synchronous};
use superstep_store::checkpoint::{
    Checkpoint, CheckpointFuture, CheckpointId, CheckpointQuery, Checkpointer, HistoryEntry, Loaded,
    MemoryCheckpointer, NamespaceQuery, NamespaceRecord, Page, Prune, Pruned, ThreadQuery, ThreadRecord,
    WriteBatch,
};
use tokio::runtime::Runtime;

use by_hand::{by_hand, by_hand_on_a_thread};
use message::{Message, message};

#[derive(GraphState, Clone)]
struct Chat {
    #[state(reducer = append)]
    messages: Vec<Message>,
}

async fn answer(chat: &Chat) -> ChatUpdate {
    Chat::update().messages([message(chat.messages.len())])
}

/// An endless graph: a run stops at its limit of supersteps.
fn graph() -> Graph<Chat> {
    StateGraph::<Chat>::new().edge(START, answer).edge(answer, answer).compile().expect("a graph")
}

/// Counts batches, so that the handwritten loop gets batches of the same size.
#[derive(Clone)]
struct Counting<C>(C, Arc<AtomicU64>);

impl<C: Checkpointer> Checkpointer for Counting<C> {
    fn commit(&self, batch: WriteBatch) -> CheckpointFuture<'_, ()> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.commit(batch)
    }

    fn get(
        &self,
        thread: &str,
        namespace: &str,
        checkpoint: Option<CheckpointId>,
    ) -> CheckpointFuture<'_, Loaded> {
        self.0.get(thread, namespace, checkpoint)
    }

    fn list(&self, query: CheckpointQuery) -> CheckpointFuture<'_, Page<Checkpoint>> {
        self.0.list(query)
    }

    fn history(&self, query: CheckpointQuery) -> CheckpointFuture<'_, Page<HistoryEntry>> {
        self.0.history(query)
    }

    fn namespaces(&self, query: NamespaceQuery) -> CheckpointFuture<'_, Page<NamespaceRecord>> {
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

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().build().expect("a runtime")
}

/// Runs supersteps on a new thread. Returns the time of one.
fn run(store: impl Checkpointer, thread: &str, supersteps: u32) -> Duration {
    run_with(&runtime(), store, thread, supersteps, Durability::Async)
}

fn run_with(
    runtime: &Runtime,
    store: impl Checkpointer,
    thread: &str,
    supersteps: u32,
    durability: Durability,
) -> Duration {
    let graph = graph().with_checkpointer(store);
    runtime.block_on(async {
        let start = Instant::now();
        let run = graph
            .thread(thread)
            .run(Chat::input())
            .durability(durability)
            .recursion_limit(u64::from(supersteps));
        let error = run.await.expect_err("a loop without an end");
        let state = error.state::<Chat>().expect("the state of the last superstep");
        assert_eq!(state.messages.len(), supersteps as usize, "{error}");
        start.elapsed() / supersteps
    })
}

fn open(path: &Path, synchronous: Synchronous) -> SqliteCheckpointer {
    SqliteCheckpointer::options().synchronous(synchronous).open(path).expect("a file")
}

/// Returns the paths of new files in a folder, one for each call.
fn files(folder: &Path) -> impl Fn() -> PathBuf {
    let count = Cell::new(0);
    move || {
        count.set(count.get() + 1);
        folder.join(format!("{}.db", count.get()))
    }
}

fn against_handwritten_loop(synchronous: Synchronous, pragma: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let (rounds, supersteps) = extent(15, 1_000);
    let file = files(folder.path());
    let batches = Arc::new(AtomicU64::new(0));
    run(Counting(open(&file(), synchronous), Arc::clone(&batches)), "1", supersteps);
    let batch = (supersteps / u32::try_from(batches.load(Ordering::Relaxed)).unwrap_or(1)).max(1);
    let pair = pair(
        rounds,
        || run(open(&file(), synchronous), "1", supersteps),
        || by_hand(&file(), pragma, supersteps, batch),
    );
    pair.report(
        &format!(
            "a superstep on SQLite (synchronous {pragma}, {batch} in a batch), next to its rows by hand"
        ),
        1.5,
    );
}

/// A run that waits for the store after each superstep, next to a transaction for each superstep by hand.
///
/// If the commits wait for the disk, the store makes them on a thread of its own. The hand-off there and back is the larger
/// part of what it costs over a loop that blocks the runtime, so it is compared with a loop that does not, too.
fn each_step_durable(synchronous: Synchronous, pragma: &str, target: f64) {
    let folder = tempfile::tempdir().expect("a folder");
    let (rounds, supersteps) = extent(15, 500);
    let (runtime, file) = (runtime(), files(folder.path()));
    let run = || run_with(&runtime, open(&file(), synchronous), "1", supersteps, Durability::Sync);
    let question = format!("a durable superstep on SQLite (synchronous {pragma}), next to its rows by hand");
    pair(rounds, run, || by_hand(&file(), pragma, supersteps, 1)).report(&question, target);
    pair(rounds, run, || by_hand_on_a_thread(&runtime, &file(), pragma, supersteps))
        .report(&format!("{question} on a thread"), 1.2);
}

fn in_memory() {
    let (rounds, supersteps) = extent(15, 1_000);
    let pair = pair(
        rounds,
        || run(MemoryCheckpointer::default(), "1", supersteps),
        || {
            let start = Instant::now();
            let mut all = Vec::new();
            for number in 0..supersteps {
                let json = serde_json::to_vec(&[message(number as usize)]).expect("JSON");
                all.push(black_box(json));
            }
            start.elapsed() / supersteps
        },
    );
    if measuring() {
        let kept = if pair.ours <= Duration::from_micros(2) { "kept" } else { "MISSED" };
        println!(
            "a superstep on a thread in memory: {:?} (promised ≤ 2µs: {kept}), of which making and encoding the message is {:?}",
            pair.ours, pair.theirs
        );
    }
}

/// The file after a WAL checkpoint, next to the bytes of the deltas.
fn size() {
    for supersteps in [1_000, if measuring() { 10_000 } else { 1_000 }] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("threads.db");
        run(open(&path, Synchronous::Normal), "1", supersteps);
        let db = Connection::open(&path).expect("the file");
        let _: i64 =
            db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0)).expect("a checkpoint");
        let file = std::fs::metadata(&path).expect("the file").len();
        let deltas: usize =
            (0..supersteps).map(|n| serde_json::to_vec(&[message(n as usize)]).expect("JSON").len()).sum();
        #[expect(clippy::cast_precision_loss, reason = "a ratio")]
        let ratio = file as f64 / deltas as f64;
        let kept = if ratio <= 3.0 { "kept" } else { "MISSED" };
        println!(
            "the file after {supersteps} supersteps: {file} bytes for {deltas} of deltas, ratio {ratio:.2} (promised ≤ 3: {kept})"
        );
    }
}

/// Reading a state back, next to decoding its value.
fn reading(store: impl Checkpointer, name: &str, supersteps: u32) {
    let whole = serde_json::to_vec(&(0..supersteps as usize).map(message).collect::<Vec<_>>()).expect("JSON");
    let graph = graph().with_checkpointer(store);
    let thread = graph.thread("1");
    let (rounds, times) = extent(31, (200_000 / supersteps).clamp(3, 200));
    let runtime = runtime();
    let pair = pair(
        rounds,
        || {
            let start = Instant::now();
            for _ in 0..times {
                let snapshot = runtime.block_on(thread.state()).expect("a snapshot").expect("a checkpoint");
                assert_eq!(
                    snapshot.state.as_ref().map(|chat| chat.messages.len()),
                    Some(supersteps as usize)
                );
                black_box(snapshot);
            }
            start.elapsed() / times
        },
        || {
            let start = Instant::now();
            for _ in 0..times {
                black_box(serde_json::from_slice::<Vec<Message>>(black_box(&whole)).expect("messages"));
            }
            start.elapsed() / times
        },
    );
    let question = format!(
        "the state after {supersteps} supersteps ({} bytes) from {name}, next to decoding it",
        whole.len()
    );
    pair.report(&question, 1.3);
    if measuring() && supersteps == 500 {
        let kept = if pair.ours <= Duration::from_millis(1) { "kept" } else { "MISSED" };
        println!("a state of 100 KB from {name}: {:?} (promised ≤ 1 ms: {kept})", pair.ours);
    }
}

fn main() {
    if is_selected("run") {
        against_handwritten_loop(Synchronous::Full, "FULL");
        against_handwritten_loop(Synchronous::Normal, "NORMAL");
    }
    if is_selected("full") {
        each_step_durable(Synchronous::Full, "FULL", 1.2);
    }
    if is_selected("normal") {
        each_step_durable(Synchronous::Normal, "NORMAL", 2.0);
    }
    if is_selected("memory") {
        in_memory();
    }
    if is_selected("size") {
        size();
    }
    if is_selected("state") {
        for supersteps in if measuring() { vec![500, 1_000, 10_000] } else { vec![10] } {
            let memory = MemoryCheckpointer::default();
            run(memory.clone(), "1", supersteps);
            reading(memory, "memory", supersteps);
            let folder = tempfile::tempdir().expect("a folder");
            let sqlite = open(&folder.path().join("threads.db"), Synchronous::Normal);
            run(sqlite.clone(), "1", supersteps);
            reading(sqlite, "SQLite", supersteps);
        }
    }
}
