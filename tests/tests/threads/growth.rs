//! Stored bytes grow with the size of the writes, not with the size of the state.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use superstep::checkpoint::{
    BatchWrite, Checkpoint, CheckpointFuture, CheckpointId, CheckpointQuery, Checkpointer, HistoryEntry,
    Loaded, NamespaceQuery, NamespaceRecord, Page, Prune, Pruned, ThreadQuery, ThreadRecord, WriteBatch,
};
use superstep::{END, GraphState, Route, START, StateGraph};

use super::stores::{TestStore, on_every_store};

/// Counts the bytes that a store receives.
#[derive(Clone)]
pub(crate) struct ByteCounter {
    pub(crate) store: Arc<dyn Checkpointer>,
    pub(crate) bytes: Arc<AtomicU64>,
}

impl Checkpointer for ByteCounter {
    fn commit(&self, batch: WriteBatch) -> CheckpointFuture<'_, ()> {
        let of_write = |write: &BatchWrite| match write {
            BatchWrite::Checkpoint(new) => {
                let changes = new.changes.iter().map(|change| change.payload.len());
                let records = new.records.iter().map(|record| record.payload.len());
                let progress = new.checkpoint.progress.iter().map(|progress| progress.len());
                changes.chain(records).chain(progress).sum::<usize>()
            }
            BatchWrite::Records { put, .. } => put.iter().map(|record| record.payload.len()).sum(),
            BatchWrite::RollBack { .. } => 0,
        };
        let bytes: usize = batch.writes.iter().map(of_write).sum();
        self.bytes.fetch_add(bytes as u64, Ordering::SeqCst);
        self.store.commit(batch)
    }

    fn get(&self, thread: &str, namespace: &str, at: Option<CheckpointId>) -> CheckpointFuture<'_, Loaded> {
        self.store.get(thread, namespace, at)
    }

    fn list(&self, query: CheckpointQuery) -> CheckpointFuture<'_, Page<Checkpoint>> {
        self.store.list(query)
    }

    fn history(&self, query: CheckpointQuery) -> CheckpointFuture<'_, Page<HistoryEntry>> {
        self.store.history(query)
    }

    fn namespaces(&self, query: NamespaceQuery) -> CheckpointFuture<'_, Page<NamespaceRecord>> {
        self.store.namespaces(query)
    }

    fn threads(&self, query: ThreadQuery) -> CheckpointFuture<'_, Page<ThreadRecord>> {
        self.store.threads(query)
    }

    fn delete(&self, thread: &str, epoch: Option<u64>) -> CheckpointFuture<'_, bool> {
        self.store.delete(thread, epoch)
    }

    fn copy(&self, from: &str, to: &str, epoch: Option<u64>) -> CheckpointFuture<'_, ()> {
        self.store.copy(from, to, epoch)
    }

    fn prune(&self, prune: Prune) -> CheckpointFuture<'_, Pruned> {
        self.store.prune(prune)
    }
}

#[derive(GraphState, Clone, Debug)]
struct Chat {
    #[state(input)]
    turns: usize,
    #[state(input, reducer = append)]
    lines: Vec<String>,
}

#[derive(Route)]
enum Loop {
    #[to(talk)]
    Again,
    #[to(END)]
    Out,
}

/// The length of a message.
const LINE: usize = 200;

async fn talk(chat: &Chat) -> (ChatUpdate, Loop) {
    let line = format!("{:0LINE$}", chat.lines.len());
    let again = chat.lines.len() + 1 < chat.turns;
    (Chat::update().lines([line]), if again { Loop::Again } else { Loop::Out })
}

/// Appends `lines` lines. Returns the bytes that the store received, and the bytes from which it reads the state.
async fn stored_bytes(store: &TestStore, lines: usize) -> (u64, usize) {
    let counter = ByteCounter { store: store.open(), bytes: Arc::default() };
    let graph = StateGraph::<Chat>::new().edge(START, talk).compile().unwrap();
    let thread = graph.with_checkpointer(counter.clone()).thread(format!("{lines}"));
    let outcome = thread.run(Chat::input(lines)).recursion_limit(lines as u64).await.unwrap();
    assert_eq!(outcome.state().lines.len(), lines);
    let read = store.open_inner().get(&format!("{lines}"), "", None).await.unwrap().found.unwrap();
    let field = read.fields.iter().find(|field| field.field == "lines").unwrap();
    (counter.bytes.load(Ordering::SeqCst), field.changes.iter().map(|change| change.payload.len()).sum())
}

#[tokio::test]
async fn stored_bytes_grow_linearly_with_appends() {
    on_every_store(async |store| {
        let (half, _) = stored_bytes(store, 500).await;
        let (whole, read) = stored_bytes(store, 1000).await;
        let written = (1000 * LINE) as u64;
        assert!(whole < written * 11 / 10, "{whole} bytes for {written} bytes of messages");
        assert!(whole < half * 21 / 10, "{half} bytes for 500 messages, {whole} for 1000");
        assert!(read as u64 <= 2 * written, "a state is read from {read} bytes");
    })
    .await;
}

#[tokio::test]
async fn stored_bytes_grow_linearly_with_runs() {
    on_every_store(async |store| {
        let graph = StateGraph::<Chat>::new().edge(START, talk).compile().unwrap();
        let counter = ByteCounter { store: store.open(), bytes: Arc::default() };
        let mut at_half = 0;
        for run in 0..100 {
            if run == 50 {
                at_half = counter.bytes.load(Ordering::SeqCst);
            }
            let thread = graph.with_checkpointer(counter.clone()).thread("t");
            thread.run(Chat::input(0).lines(["?".repeat(LINE)])).await.unwrap();
        }
        let bytes = counter.bytes.load(Ordering::SeqCst);
        let written = (100 * 2 * LINE) as u64;
        // An input is stored twice: when it arrives, and with the state that it leads to.
        assert!(bytes < written * 2, "{bytes} bytes for {written} bytes of messages");
        assert!(bytes < at_half * 21 / 10, "{at_half} bytes for 50 runs, {bytes} for 100");
    })
    .await;
}
