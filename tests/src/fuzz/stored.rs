//! Stored values, and threads whose stored bytes were changed.

use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use superstep::checkpoint::{
    Checkpoint, CheckpointFuture, CheckpointId, CheckpointQuery, Checkpointer, Fence, HistoryEntry, Loaded,
    MemoryCheckpointer, NamespaceQuery, NamespaceRecord, Page, Prune, Pruned, StoredCheckpoint, ThreadQuery,
    ThreadRecord, WriteBatch,
};
use superstep::interrupt::Question;
use superstep::payload::{Encoding, Payload, Storable, from_payload, to_payload};
use superstep::policy::{Policy, Retry};
use superstep::{
    Context, END, Error, FailureMode, Graph, GraphState, NodeError, NodeFailure, Result, Route, START,
    StateGraph, bail,
};

use super::json::{Shape, Untagged};

/// A value that is read can be written, and is then read as the same value.
fn read_as<T: Storable + PartialEq + std::fmt::Debug>(payload: &Payload) {
    match from_payload::<T>(payload) {
        Err(error) => assert!(!error.to_string().contains("panicked"), "{error}"),
        Ok(value) => {
            let stored = to_payload(&value).unwrap();
            assert_eq!(from_payload::<T>(&stored).unwrap(), value);
        }
    }
}

pub(super) fn value(bytes: &[u8]) {
    for encoding in [Encoding::Json, Encoding::Bytes, Encoding::Sealed] {
        let payload = Payload::new(encoding, bytes);
        read_as::<Shape>(&payload);
        read_as::<Vec<Untagged>>(&payload);
        read_as::<f32>(&payload);
        read_as::<u128>(&payload);
        read_as::<Option<Vec<u8>>>(&payload);
        read_as::<std::collections::BTreeMap<i64, String>>(&payload);
        read_as::<serde_json::Value>(&payload);
    }
}

pub(super) fn value_seeds() -> Vec<Vec<u8>> {
    let texts = [
        r#"{"Struct":{"text":"t","inner":{"Tuple":[-1,"é"]}}}"#,
        r#"[1e38,[{"name":"n","x":-2.5}]]"#,
        "[1,2,255]",
        r#"{"-1":"a","9223372036854775807":"\u00e9"}"#,
        "340282366920938463463374607431768211455",
        "3.4028235e38",
        "[1,2,255823665582366920938463463374607431768211455141455]",
    ];
    texts.map(|text| text.as_bytes().to_vec()).into()
}

#[derive(Serialize, Deserialize)]
struct Sure {
    what: Shape,
}

impl Question for Sure {
    type Answer = Untagged;
}

#[derive(GraphState, Clone, Debug)]
#[state(version = 2, migrate = migrate)]
struct Trip {
    #[state(input)]
    name: String,
    #[state(reducer = append)]
    log: Vec<Shape>,
    number: f32,
    #[state(ephemeral)]
    flash: Option<Untagged>,
    #[state(exclude, validate(length(max = 9)))]
    secret: Option<String>,
}

fn migrate(from: u32, stored: &mut superstep::state::Stored) -> Result<(), superstep::state::MigrationError> {
    if from < 2 {
        stored.rename("title", "name");
        stored.change("number", Ok)?;
    }
    Ok(())
}

#[derive(Route)]
enum Hand {
    #[to(work)]
    Work(Shape),
}

fn say(text: &str) -> TripUpdate {
    Trip::update().log([Shape::Struct { text: text.to_owned(), inner: None }])
}

async fn split(_: &Trip) -> (TripUpdate, Vec<Hand>) {
    let packets = [Shape::Unit, Shape::Newtype(1.5), Shape::Tuple(-1, Some('é'))];
    (say("split").number(0.5).secret("s"), packets.map(Hand::Work).into())
}

/// One packet is done, one asks after a step, and one fails.
async fn work(_: &Trip, packet: &Shape, cx: &Context) -> Result<TripUpdate> {
    match packet {
        Shape::Newtype(_) => {
            let paid = cx.step("pay", async { Ok::<_, NodeError>(Shape::Newtype(2.0)) }).await?;
            let answer = cx.interrupt(Sure { what: paid.clone() }).await;
            Ok(Trip::update().log([paid]).flash(answer))
        }
        Shape::Tuple(..) => bail!("no"),
        _ => Ok(say("worked")),
    }
}

async fn naps(_: &Trip, cx: &Context) -> Result<TripUpdate> {
    cx.sleep(Duration::from_secs(3600)).await;
    Ok(say("napped"))
}

async fn retried(_: &Trip) -> Result<TripUpdate> {
    bail!("later")
}

async fn handled(_: &Trip) -> Result<TripUpdate> {
    bail!("handled")
}

async fn rescue(_: &Trip, _: &NodeFailure, cx: &Context) -> TripUpdate {
    cx.interrupt(Sure { what: Shape::Unit }).await;
    say("rescued")
}

async fn inside(_: &Trip, cx: &Context) -> TripUpdate {
    cx.interrupt(Sure { what: Shape::Unit }).keyed("inside").await;
    say("inside")
}

async fn last(_: &Trip) -> TripUpdate {
    say("last")
}

fn graph() -> Graph<Trip> {
    let inner = StateGraph::<Trip>::new().edge(START, inside).edge(inside, END).compile().unwrap();
    let inner = inner.as_node("inner");
    let hour = Duration::from_secs(3600);
    StateGraph::<Trip>::new()
        .edge(START, split)
        .edge(START, (&inner, naps, retried, handled))
        .join((&inner, naps, handled), last)
        .edge(retried, END)
        .edge(work, END)
        .edge(last, END)
        .policy(retried, Policy::new().retry(Retry::attempts(3).backoff(hour).max_backoff(hour)))
        .on_error(handled, rescue)
        .on_failure(FailureMode::Collect)
        .compile()
        .unwrap()
}

/// A store that changes one stored string of each checkpoint that it returns.
struct Corrupting {
    inner: MemoryCheckpointer,
    bytes: Arc<[u8]>,
}

/// Changes a string of bytes: the first byte says how, the second where.
fn changed(old: &[u8], edit: &[u8]) -> Vec<u8> {
    let [how, at, new @ ..] = edit else { return old.to_vec() };
    let at = usize::from(*at) * old.len() / 256;
    let (head, tail) = old.split_at_checked(at).unwrap_or((old, &[]));
    match how % 4 {
        0 => new.to_vec(),
        1 => [head, new, tail].concat(),
        2 => [head, new, tail.get(new.len()..).unwrap_or_default()].concat(),
        _ => head.to_vec(),
    }
}

/// Changes the `which`th stored string of a checkpoint.
fn corrupt(loaded: &mut Loaded, which: u8, edit: &[u8]) {
    let Some(found) = &mut loaded.found else { return };
    let mut which = usize::from(which);
    let mut payloads: Vec<&mut Payload> = found.checkpoint.progress.iter_mut().collect();
    payloads.extend(found.records.iter_mut().map(|record| &mut record.payload));
    payloads.extend(
        found.fields.iter_mut().flat_map(|field| &mut field.changes).map(|change| &mut change.payload),
    );
    let count = payloads.len();
    if let Some(payload) = payloads.into_iter().nth(which) {
        *payload = Payload::new(payload.encoding(), changed(payload.bytes(), edit));
        return;
    }
    which -= count;
    let text = |old: &str| String::from_utf8_lossy(&changed(old.as_bytes(), edit)).into_owned();
    let mut names: Vec<&mut Arc<str>> = found.checkpoint.next.iter_mut().collect();
    names.extend(found.records.iter_mut().map(|record| &mut record.key.key));
    let count = names.len();
    if let Some(name) = names.into_iter().nth(which) {
        *name = text(name).into();
        return;
    }
    match which - count {
        0 => {
            let run = Arc::make_mut(&mut found.checkpoint.run);
            run.program = text(&run.program).into();
        }
        1 => found
            .records
            .iter_mut()
            .for_each(|record| record.key.task = u32::from(edit.first().copied().unwrap_or(255))),
        2 => found.fields.iter_mut().for_each(|field| field.field = text(&field.field)),
        3 => found.records.truncate(usize::from(edit.first().copied().unwrap_or_default())),
        4 => found.fields.truncate(usize::from(edit.first().copied().unwrap_or_default())),
        _ => {}
    }
}

impl Checkpointer for Corrupting {
    fn commit(&self, batch: WriteBatch) -> CheckpointFuture<'_, ()> {
        self.inner.commit(batch)
    }

    fn get(&self, thread: &str, namespace: &str, at: Option<CheckpointId>) -> CheckpointFuture<'_, Loaded> {
        let loading = self.inner.get(thread, namespace, at);
        Box::pin(async move {
            let mut loaded = loading.await?;
            if let [which, edit @ ..] = &*self.bytes {
                corrupt(&mut loaded, *which, edit);
            }
            Ok(loaded)
        })
    }

    fn list(&self, query: CheckpointQuery) -> CheckpointFuture<'_, Page<Checkpoint>> {
        self.inner.list(query)
    }

    fn history(&self, query: CheckpointQuery) -> CheckpointFuture<'_, Page<HistoryEntry>> {
        let reading = self.inner.history(query);
        Box::pin(async move {
            let mut page = reading.await?;
            if let [which, edit @ ..] = &*self.bytes {
                for item in &mut page.items {
                    let HistoryEntry { checkpoint, records, fields, .. } = item.clone();
                    let stored = StoredCheckpoint::new(checkpoint, fields, records);
                    let mut loaded = Loaded::new(Fence::default(), None, stored);
                    corrupt(&mut loaded, *which, edit);
                    if let Some(stored) = loaded.found {
                        let base = item.base;
                        *item =
                            HistoryEntry::new(stored.checkpoint, stored.fields, stored.records).base(base);
                    }
                }
            }
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

pub(super) fn block_on<T>(future: impl Future<Output = T>) -> T {
    thread_local! {
        static RUNTIME: tokio::runtime::Runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    }
    let limited = async { tokio::time::timeout(Duration::from_secs(30), future).await.unwrap() };
    RUNTIME.with(|runtime| runtime.block_on(limited))
}

/// A call fails with an error that is not a panic of the library.
pub(super) fn typed<T>(result: Result<T, Error>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error) => {
            let text = format!("{error} {error:?}");
            assert!(!text.contains("panicked") && text.len() < 1 << 21, "{text:.2000}");
            None
        }
    }
}

static BASE: OnceLock<(MemoryCheckpointer, Graph<Trip>)> = OnceLock::new();

fn base() -> &'static (MemoryCheckpointer, Graph<Trip>) {
    BASE.get_or_init(|| {
        let (store, graph) = (MemoryCheckpointer::new(), graph());
        let thread = graph.with_checkpointer(store.clone()).thread("t");
        let run = thread.run(Trip::input("x")).suspend_sleeps_longer_than(Duration::ZERO);
        typed(block_on(run));
        let state = block_on(thread.state()).unwrap().unwrap();
        assert!(state.tasks.iter().any(|task| !task.interrupts.is_empty()), "{state:?}");
        (store, graph)
    })
}

pub(super) fn thread(bytes: &[u8]) {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let (store, graph) = base();
    let name = format!("u{}", NEXT.fetch_add(1, Ordering::Relaxed));
    block_on(async {
        store.copy("t", &name, None).await.unwrap();
        let corrupting = Corrupting { inner: store.clone(), bytes: bytes.into() };
        let graph = graph.with_checkpointer(corrupting);
        let thread = graph.thread(&*name);
        let snapshot = typed(thread.state().await).flatten();
        if let Some(snapshot) = &snapshot {
            let _ = (format!("{snapshot:?}"), serde_json::to_string(&snapshot));
        }
        typed(thread.history().await);
        typed(thread.picture().await);
        typed(graph.unfinished().await);
        let mut answers = Vec::new();
        if let Some(pause) = typed(thread.interrupts().await) {
            for open in pause.interrupts() {
                if let Ok(question) = open.read::<Sure>() {
                    answers.push(question.answer(Untagged::Number(1.0)));
                }
            }
        }
        let limit = Duration::ZERO;
        typed(thread.resume(answers).suspend_sleeps_longer_than(limit).await);
        typed(thread.resume(()).suspend_sleeps_longer_than(limit).await);
        if let Some(snapshot) = snapshot {
            typed(thread.at(snapshot.id).run_again().suspend_sleeps_longer_than(limit).await);
        }
        typed(thread.run(Trip::input("y")).abandon_pending().suspend_sleeps_longer_than(limit).await);
        store.delete(&name, None).await.unwrap();
    });
}

pub(super) fn thread_seeds() -> Vec<Vec<u8>> {
    let edits: [&[u8]; 8] = [
        b"\0\0",
        b"\0\0null",
        b"\0\0{}",
        b"\0\0[]",
        b"\x01\x80x",
        b"\x02\x80\"",
        b"\x03\x80",
        b"\x01\x08\"a\":1,",
    ];
    let of = |which: u8| edits.iter().map(move |edit| [&[which], *edit].concat());
    (0..80).flat_map(of).collect()
}
