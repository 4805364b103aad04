//! What is stored grows with what was written, not with what there is.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use superstep::checkpoint::{
    BatchWrite, Checkpoint, CheckpointFuture, CheckpointId, CheckpointQuery, Checkpointer, Loaded, Page,
    Prune, Pruned, ThreadQuery, ThreadRecord, WriteBatch,
};
use superstep::{END, GraphState, Route, START, StateGraph};

use super::stores::{Place, on_every_store};

/// Counts the bytes that a store is given.
#[derive(Clone)]
pub(crate) struct Counting {
    pub(crate) store: Arc<dyn Checkpointer>,
    pub(crate) bytes: Arc<AtomicU64>,
}

impl Checkpointer for Counting {
    fn commit(&self, batch: WriteBatch) -> CheckpointFuture<'_, ()> {
        let of_write = |write: &BatchWrite| match write {
            BatchWrite::Checkpoint(new) => {
                let pieces = new.changes.iter().map(|piece| piece.payload.len());
                let records = new.records.iter().map(|record| record.payload.len());
                let progress = new.checkpoint.progress.iter().map(|progress| progress.len());
                pieces.chain(records).chain(progress).sum::<usize>()
            }
            BatchWrite::Records { put, .. } => put.iter().map(|record| record.payload.len()).sum(),
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

    fn threads(&self, query: ThreadQuery) -> CheckpointFuture<'_, Page<ThreadRecord>> {
        self.store.threads(query)
    }

    fn delete(&self, thread: &str) -> CheckpointFuture<'_, bool> {
        self.store.delete(thread)
    }

    fn copy(&self, from: &str, to: &str) -> CheckpointFuture<'_, ()> {
        self.store.copy(from, to)
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

/// As long as a message is.
const LINE: usize = 200;

async fn talk(chat: &Chat) -> (ChatUpdate, Loop) {
    let line = format!("{:0LINE$}", chat.lines.len());
    let again = chat.lines.len() + 1 < chat.turns;
    (Chat::update().lines([line]), if again { Loop::Again } else { Loop::Out })
}

/// The bytes that a store is given while so many lines are appended, and all bytes that it keeps then.
async fn stored(place: &Place, lines: usize) -> (u64, usize) {
    let counting = Counting { store: place.open(), bytes: Arc::default() };
    let graph = StateGraph::<Chat>::new().edge(START, talk).compile().unwrap();
    let thread = graph.with_checkpointer(counting.clone()).thread(format!("{lines}"));
    let outcome = thread.run(Chat::input(lines)).recursion_limit(lines as u64).await.unwrap();
    assert_eq!(outcome.state().lines.len(), lines);
    let read = place.kept().get(&format!("{lines}"), "", None).await.unwrap().found.unwrap();
    let field = read.fields.iter().find(|field| field.field == "lines").unwrap();
    (counting.bytes.load(Ordering::SeqCst), field.changes.iter().map(|piece| piece.payload.len()).sum())
}

#[tokio::test]
async fn a_thousand_appended_messages_take_the_bytes_of_a_thousand_messages() {
    on_every_store(async |place| {
        let (half, _) = stored(place, 500).await;
        let (whole, read) = stored(place, 1000).await;
        let written = (1000 * LINE) as u64;
        assert!(whole < written * 11 / 10, "{whole} bytes for {written} bytes of messages");
        assert!(whole < half * 21 / 10, "{half} bytes for 500 messages, {whole} for 1000");
        assert!(read as u64 <= 2 * written, "a state is read from {read} bytes");
    })
    .await;
}

#[tokio::test]
async fn a_conversation_of_many_runs_takes_the_bytes_of_what_was_said() {
    on_every_store(async |place| {
        let graph = StateGraph::<Chat>::new().edge(START, talk).compile().unwrap();
        let counting = Counting { store: place.open(), bytes: Arc::default() };
        let mut at_half = 0;
        for run in 0..100 {
            if run == 50 {
                at_half = counting.bytes.load(Ordering::SeqCst);
            }
            let thread = graph.with_checkpointer(counting.clone()).thread("t");
            thread.run(Chat::input(0).lines(["?".repeat(LINE)])).await.unwrap();
        }
        let bytes = counting.bytes.load(Ordering::SeqCst);
        let written = (100 * 2 * LINE) as u64;
        // The input is stored when it comes, so that it is not lost, and with the state that it leads to.
        assert!(bytes < written * 2, "{bytes} bytes for {written} bytes of messages");
        assert!(bytes < at_half * 21 / 10, "{at_half} bytes for 50 runs, {bytes} for 100");
    })
    .await;
}
