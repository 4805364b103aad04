//! Measures commits and reads next to a hand-written loop over tokio-postgres with the same statements in the same run.
//! `PG_URL` names the server.

#![expect(clippy::expect_used, reason = "a bench that cannot run must stop")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use paired::{extent, is_selected, measuring, pair};
use serde::{Deserialize, Serialize};
use superstep::{Durability, GraphState, START, StateGraph};
use superstep_postgres::PostgresCheckpointer;
use superstep_store::checkpoint::{
    BatchWrite, ChangeKind, Checkpoint, CheckpointId, CheckpointQuery, CheckpointSource, Checkpointer as _,
    Fence, FieldChange, NewCheckpoint, RunRecord, WriteBatch,
};
use superstep_store::payload::Payload;
use tokio::runtime::Runtime;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, NoTls, Statement};

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Message {
    role: String,
    content: String,
    tokens: u32,
}

#[derive(GraphState, Clone)]
struct Chat {
    #[state(reducer = append)]
    messages: Vec<Message>,
}

/// About 200 bytes of JSON.
fn message(number: usize) -> Message {
    let content = format!("message {number:6}: {}", "lorem ipsum dolor ".repeat(8));
    Message { role: "assistant".to_owned(), content, tokens: u32::try_from(number).unwrap_or_default() }
}

async fn answer(chat: &Chat) -> ChatUpdate {
    Chat::update().messages([message(chat.messages.len())])
}

const SCHEMA: &str = "superstep_bench";

struct Bench {
    runtime: Runtime,
    url: String,
    store: PostgresCheckpointer,
    /// With unnamed statements.
    unnamed: PostgresCheckpointer,
}

impl Bench {
    async fn client(&self) -> Client {
        let (client, connection) = tokio_postgres::connect(&self.url, NoTls).await.expect("a connection");
        tokio::spawn(connection);
        client.batch_execute(&format!("SET search_path TO {SCHEMA}, pg_temp")).await.expect("a setting");
        client
    }

    /// Runs supersteps on a new thread. Returns the time of one.
    fn run(
        &self,
        store: &PostgresCheckpointer,
        thread: &str,
        supersteps: u32,
        durability: Durability,
    ) -> Duration {
        let graph =
            StateGraph::<Chat>::new().edge(START, answer).edge(answer, answer).compile().expect("a graph");
        let graph = graph.with_checkpointer(store.clone());
        self.runtime.block_on(async {
            let start = Instant::now();
            let run = graph.thread(thread).run(Chat::input()).durability(durability);
            let error = run.recursion_limit(u64::from(supersteps)).await.expect_err("a loop without an end");
            assert!(error.state::<Chat>().is_some(), "{error}");
            start.elapsed() / supersteps
        })
    }

    /// A durable superstep of a run, next to the same call of `commit` by hand: both prepared, and both unnamed.
    fn step(&self) {
        let (rounds, steps) = extent(9, 150);
        for (statements, store) in [("prepared", &self.store), ("unnamed", &self.unnamed)] {
            let (mut ours, mut theirs) = (0, 0);
            let pair = pair(
                rounds,
                || {
                    ours += 1;
                    self.run(store, &format!("ours {statements} {ours}"), steps, Durability::Sync)
                },
                || {
                    theirs += 1;
                    let thread = format!("theirs {statements} {theirs}");
                    self.by_hand(&thread, steps, statements == "prepared")
                },
            );
            let title =
                format!("a durable superstep on PostgreSQL, next to the same {statements} statement by hand");
            pair.report(&title, 1.3);
        }
    }

    fn by_hand(&self, thread: &str, steps: u32, is_prepared: bool) -> Duration {
        self.runtime.block_on(async {
            let client = self.client().await;
            let mut hand = Hand::new(thread);
            let statement =
                if is_prepared { Some(client.prepare(COMMIT).await.expect("a statement")) } else { None };
            hand.commit(&client, statement.as_ref(), 0).await;
            let start = Instant::now();
            for number in 0..steps {
                hand.commit(&client, statement.as_ref(), number as usize).await;
            }
            start.elapsed() / steps
        })
    }

    /// Commits of 32 threads at once, next to one call for all of them by hand.
    fn together(&self) {
        const THREADS: usize = 32;
        let (rounds, steps) = extent(9, 40);
        let (mut ours, mut theirs) = (0, 0);
        let pair = pair(
            rounds,
            || {
                ours += 1;
                self.runtime.block_on(async {
                    let start = Instant::now();
                    let threads = (0..THREADS).map(|nth| {
                        let (store, thread) = (self.store.clone(), format!("many {ours} {nth}"));
                        tokio::spawn(async move {
                            let mut fence = Fence::default();
                            for number in 0..steps {
                                let batch = batch(&thread, fence, number as usize);
                                fence = after(&batch);
                                store.commit(batch).await.expect("a commit");
                            }
                        })
                    });
                    for thread in threads.collect::<Vec<_>>() {
                        thread.await.expect("a thread");
                    }
                    start.elapsed() / steps
                })
            },
            || {
                theirs += 1;
                self.runtime.block_on(async {
                    let client = self.client().await;
                    let mut hands: Vec<_> =
                        (0..THREADS).map(|nth| Hand::new(&format!("hand {theirs} {nth}"))).collect();
                    let statement = client.prepare(COMMIT).await.expect("a statement");
                    let start = Instant::now();
                    for number in 0..steps {
                        client.batch_execute("BEGIN").await.expect("a transaction");
                        let calls = hands
                            .iter_mut()
                            .map(|hand| hand.commit(&client, Some(&statement), number as usize));
                        futures_util::future::join_all(calls).await;
                        client.batch_execute("COMMIT").await.expect("a transaction");
                    }
                    start.elapsed() / steps
                })
            },
        );
        // At least 0.8 times the throughput.
        pair.report("a commit of each of 32 threads at once, next to one transaction for all by hand", 1.25);
    }

    fn reads(&self) {
        let (rounds, times) = extent(15, 40);
        let count = if measuring() { 1_000 } else { 10 };
        self.run(&self.store, "history", count, Durability::Async);
        let query = CheckpointQuery::new("history");
        let timed = |question: &str, limit: Duration, read: &dyn Fn()| {
            let mut best: Vec<Duration> = (0..rounds)
                .map(|_| {
                    let start = Instant::now();
                    (0..times).for_each(|_| read());
                    start.elapsed() / times
                })
                .collect();
            best.sort_unstable();
            let median = best.get(best.len() / 2).copied().unwrap_or_default();
            let kept = if median <= limit { "kept" } else { "MISSED" };
            println!("{question}: {median:?} (promised ≤ {limit:?}: {kept})");
        };
        timed(&format!("a history of {count} checkpoints"), Duration::from_millis(10), &|| {
            let page = self.runtime.block_on(self.store.history(query.clone())).expect("a history");
            assert!(page.items.len() >= count as usize);
            black_box(page);
        });
        let middle = self.runtime.block_on(self.store.list(query.clone().limit(2))).expect("a list");
        let first = self
            .runtime
            .block_on(self.store.list(query.clone().oldest_first(true).limit(3)))
            .expect("a list");
        let early = first.items.last().map(|checkpoint| checkpoint.id);
        black_box(middle);
        timed(&format!("an early checkpoint among {count}"), Duration::from_micros(500), &|| {
            black_box(self.runtime.block_on(self.store.get("history", "", early)).expect("a checkpoint"));
        });
    }

    /// The state of a thread of 100 KB, next to a round trip and decoding its value.
    fn state(&self, messages: u32) {
        self.run(&self.store, "state", messages, Durability::Async);
        let graph =
            StateGraph::<Chat>::new().edge(START, answer).edge(answer, answer).compile().expect("a graph");
        let graph = graph.with_checkpointer(self.store.clone());
        let whole =
            serde_json::to_vec(&(0..messages as usize).map(message).collect::<Vec<_>>()).expect("JSON");
        let client = self.runtime.block_on(self.client());
        let (rounds, times) = extent(31, 40);
        let pair = pair(
            rounds,
            || {
                let start = Instant::now();
                for _ in 0..times {
                    let state = self.runtime.block_on(graph.thread("state").state()).expect("a state");
                    black_box(state);
                }
                start.elapsed() / times
            },
            || {
                let start = Instant::now();
                for _ in 0..times {
                    // The round trip carries the bytes, as that of the store does.
                    let rows = self.runtime.block_on(async {
                        let whole: [(&(dyn ToSql + Sync), Type); 1] = [(&whole, Type::BYTEA)];
                        client.query_typed("SELECT $1::bytea", &whole).await.expect("a row")
                    });
                    let bytes: &[u8] = rows.first().expect("a row").get(0);
                    black_box(serde_json::from_slice::<Vec<Message>>(black_box(bytes)).expect("messages"));
                }
                start.elapsed() / times
            },
        );
        pair.report(
            &format!("a state of {} bytes, next to a round trip with it and decoding it", whole.len()),
            1.5,
        );
    }
}

fn batch(thread: &str, fence: Fence, number: usize) -> WriteBatch {
    let run = Arc::new(RunRecord::new("run", "{}"));
    let id = CheckpointId::after(fence.head);
    let step = i64::try_from(number).unwrap_or_default();
    let checkpoint = Checkpoint::new(id, step, CheckpointSource::Loop, run, std::time::SystemTime::now())
        .parent(fence.head)
        .next(vec!["answer".into()]);
    let json = serde_json::to_string(&[message(number)]).expect("JSON");
    let change = FieldChange::new("messages", ChangeKind::Delta, Payload::json(json));
    let new = NewCheckpoint::new(checkpoint).changes(vec![change]);
    WriteBatch::new(thread, "origin", fence).writes(vec![BatchWrite::checkpoint(new)])
}

fn after(batch: &WriteBatch) -> Fence {
    let added = batch.writes.iter().find_map(|write| match write {
        BatchWrite::Checkpoint(new) => Some(new.checkpoint.id),
        _ => None,
    });
    Fence::new(batch.epoch, added)
}

/// A thread that is written with the statement of the store, by hand: prepared once, with bound parameters.
struct Hand {
    thread: String,
    head: Option<CheckpointId>,
}

const COMMIT: &str = "SELECT * FROM commit((SELECT number FROM format), \
    ARRAY[$1::bytea], ARRAY[''::bytea], ARRAY['origin'::bytea], ARRAY[0::bigint], ARRAY[$2::text::uuid], \
    ARRAY[0::bigint], ARRAY[NULL::smallint], ARRAY[NULL::bigint], ARRAY[0::bigint], ARRAY[$4::bigint], \
    ARRAY[false], ARRAY[0], ARRAY[1], ARRAY[1], ARRAY[]::uuid[], ARRAY[NULL::bigint], ARRAY['run'::bytea], \
    ARRAY['{}'::bytea], ARRAY['{}'::bytea], ARRAY[0], ARRAY[]::bigint[], ARRAY[false], ARRAY[NULL::bytea], \
    ARRAY[NULL::uuid], ARRAY[1], ARRAY[1], ARRAY[0], ARRAY[$3::text::uuid], ARRAY[$2::text::uuid], \
    ARRAY[$4::bigint], ARRAY['loop'], ARRAY[1], ARRAY[0::bigint], ARRAY['[\"answer\"]'::bytea], \
    ARRAY[NULL::smallint], ARRAY[NULL::bytea], ARRAY['messages'::bytea], ARRAY[$3::text::uuid], \
    ARRAY[$5::bytea], ARRAY[$6::bytea], ARRAY[]::uuid[], ARRAY[]::bigint[], \
    ARRAY[]::smallint[], ARRAY[]::bytea[], ARRAY[]::smallint[], ARRAY[]::bytea[])";

impl Hand {
    fn new(thread: &str) -> Self {
        Self { thread: thread.to_owned(), head: None }
    }

    async fn commit(&mut self, client: &Client, statement: Option<&Statement>, number: usize) {
        let hex =
            |id: CheckpointId| id.to_bytes().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let id = CheckpointId::after(self.head);
        let json = serde_json::to_vec(&[message(number)]).expect("JSON");
        let mut entries = id.to_bytes().to_vec();
        entries.push(0);
        entries.extend_from_slice(&u32::try_from(json.len()).expect("a length").to_be_bytes());
        let number = i64::try_from(number).expect("a number");
        let (head, text) = (self.head.map(hex), hex(id));
        let thread = self.thread.as_bytes();
        let rows = match statement {
            Some(statement) => {
                client.query(statement, &[&thread, &head, &text, &number, &entries, &json]).await
            }
            None => {
                let params: [(&(dyn ToSql + Sync), Type); 6] = [
                    (&thread, Type::BYTEA),
                    (&head, Type::TEXT),
                    (&text, Type::TEXT),
                    (&number, Type::INT8),
                    (&entries, Type::BYTEA),
                    (&json, Type::BYTEA),
                ];
                client.query_typed(COMMIT, &params).await
            }
        };
        let rows = rows.expect("a commit");
        let outcome: i16 = rows.first().expect("an answer").get(0);
        assert_eq!(outcome, 0);
        self.head = Some(id);
    }
}

fn main() {
    let Ok(url) = std::env::var("PG_URL") else {
        println!("SKIPPED: the bench needs a server: PG_URL=postgres://user@host/database");
        return;
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let options = PostgresCheckpointer::options().schema(SCHEMA);
    let unnamed = runtime.block_on(options.clone().connect(&url)).expect("a store");
    let store = runtime.block_on(options.prepared_statements(true).connect(&url)).expect("a store");
    let bench = Bench { runtime, url, store, unnamed };
    if is_selected("step") {
        bench.step();
    }
    if is_selected("together") {
        bench.together();
    }
    if is_selected("reads") {
        bench.reads();
    }
    if is_selected("state") {
        bench.state(if measuring() { 500 } else { 10 });
    }
    let drop = format!("DROP SCHEMA {SCHEMA} CASCADE");
    bench.runtime.block_on(async { bench.client().await.batch_execute(&drop).await.expect("a drop") });
}
