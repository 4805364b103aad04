use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use serde_json::json;
use superstep::checkpoint::Page;
use superstep::store::{
    Found, Get, Item, ItemWrites, MemoryStore, NamespaceQuery, Search, Store, StoreFuture,
};

use super::*;
use crate::protocol::{
    AssistantFilter, AssistantSort, MultitaskStrategy, Object, Run, RunId, RunStatus, SortOrder,
    ThreadFilter, ThreadSort, ThreadStatus, Timestamp, Ttl, TtlStrategy,
};

/// Counts the items that a store returns and writes.
#[derive(Clone, Default)]
struct Counting {
    store: MemoryStore,
    items: Arc<AtomicUsize>,
    calls: Arc<AtomicUsize>,
}

impl Counting {
    fn add(&self, items: usize) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.items.fetch_add(items, Ordering::Relaxed);
    }

    fn take(&self) -> (usize, usize) {
        (self.calls.swap(0, Ordering::Relaxed), self.items.swap(0, Ordering::Relaxed))
    }
}

impl Store for Counting {
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
            self.add(page.items.len());
            Ok(page)
        })
    }

    fn namespaces(&self, query: NamespaceQuery) -> StoreFuture<'_, Page<Namespace>> {
        self.store.namespaces(query)
    }

    fn delete_expired(&self, now: SystemTime) -> StoreFuture<'_, u64> {
        self.store.delete_expired(now)
    }
}

fn records() -> (Records, Counting) {
    let store = Counting::default();
    (Records::new(&LongTermStore::new(store.clone())), store)
}

fn object(value: serde_json::Value) -> Object {
    value.as_object().unwrap().clone()
}

async fn thread(records: &Records, metadata: serde_json::Value) -> ThreadRecord {
    let thread = ThreadRecord::new(ThreadId::new(), object(metadata), None);
    assert_eq!(records.create_thread(thread.clone()).await.unwrap(), Created::New(thread.clone()));
    thread
}

fn run(thread: ThreadId) -> RunRecord {
    let now = Timestamp::now();
    let run = Run {
        run_id: RunId::new(),
        thread_id: thread,
        assistant_id: AssistantId::of_graph("agent"),
        created_at: now,
        updated_at: now,
        status: RunStatus::Pending,
        metadata: Object::new(),
        multitask_strategy: MultitaskStrategy::Enqueue,
        kwargs: object(json!({ "input": { "n": 1 } })),
        cancel_reason: None,
    };
    let (graph_id, due_at, owner, cancel) = ("agent".to_owned(), None, None, None);
    RunRecord {
        run,
        graph_id,
        due_at,
        owner,
        epoch: 0,
        cancel,
        user_id: None,
        temporary: false,
        has_ended: false,
        error: None,
        way: None,
    }
}

const NEWEST: (ThreadSort, SortOrder) = (ThreadSort::UpdatedAt, SortOrder::Descending);

async fn search(
    records: &Records,
    filter: ThreadFilter,
    sort: (ThreadSort, SortOrder),
    needed: usize,
) -> Vec<ThreadId> {
    let mut scan = records.threads(&filter, sort, needed).await.unwrap();
    let mut found = Vec::new();
    while found.len() < needed {
        let batch = scan.next().await.unwrap();
        if batch.is_empty() {
            break;
        }
        found.extend(batch.into_iter().map(|thread| thread.thread_id));
    }
    found.truncate(needed);
    found
}

#[tokio::test]
async fn a_changed_thread_moves_to_the_front() {
    let (records, _) = records();
    let mut threads = Vec::new();
    for n in 0..4 {
        threads.push(thread(&records, json!({ "n": n })).await.thread_id);
    }
    let [a, b, c, d] = threads[..] else { panic!("four threads") };
    assert_eq!(search(&records, ThreadFilter::default(), NEWEST, 10).await, [d, c, b, a]);
    let changed =
        records.change_thread(b, |thread| thread.status = ThreadStatus::Busy).await.unwrap().unwrap();
    assert_eq!(changed.status, ThreadStatus::Busy);
    assert_eq!(search(&records, ThreadFilter::default(), NEWEST, 10).await, [b, d, c, a]);
    assert_eq!(search(&records, ThreadFilter::default(), NEWEST, 2).await, [b, d]);
    let created = (ThreadSort::CreatedAt, SortOrder::Descending);
    assert_eq!(search(&records, ThreadFilter::default(), created, 10).await, [d, c, b, a]);
    let oldest = (ThreadSort::UpdatedAt, SortOrder::Ascending);
    assert_eq!(search(&records, ThreadFilter::default(), oldest, 10).await, [a, c, d, b]);
    assert_eq!(
        search(&records, ThreadFilter::default(), (ThreadSort::Status, SortOrder::Ascending), 1).await,
        [b]
    );
    assert!(records.delete_thread(b).await.unwrap());
    assert!(!records.delete_thread(b).await.unwrap());
    assert_eq!(search(&records, ThreadFilter::default(), NEWEST, 10).await, [d, c, a]);
    assert_eq!(records.change_thread(b, |_| {}).await.unwrap(), None);
}

#[tokio::test]
async fn filters_apply_to_every_order() {
    let (records, _) = records();
    let one = thread(&records, json!({ "user": "ann", "o": { "a": 1, "b": [1, 2] } })).await.thread_id;
    let two = thread(&records, json!({ "user": "ann" })).await.thread_id;
    let three = thread(&records, json!({ "user": "bob" })).await.thread_id;
    records.change_thread(two, |thread| thread.status = ThreadStatus::Error).await.unwrap();
    let metadata = |value| ThreadFilter { metadata: object(value), ..ThreadFilter::default() };
    let status = |status| ThreadFilter { status: Some(status), ..ThreadFilter::default() };
    let ids = |ids: &[ThreadId]| ThreadFilter { ids: Some(ids.to_vec()), ..ThreadFilter::default() };
    for sort in [ThreadSort::UpdatedAt, ThreadSort::CreatedAt, ThreadSort::ThreadId, ThreadSort::Status] {
        for order in [SortOrder::Ascending, SortOrder::Descending] {
            let check = async |filter, mut expected: Vec<ThreadId>| {
                let mut found = search(&records, filter, (sort, order), 10).await;
                found.sort();
                expected.sort();
                assert_eq!(found, expected, "{sort:?} {order:?}");
            };
            check(metadata(json!({ "user": "ann" })), vec![one, two]).await;
            check(metadata(json!({ "o": { "b": [1, 2] } })), vec![one]).await;
            check(metadata(json!({ "o": {} })), vec![one]).await;
            check(metadata(json!({ "user": "ann", "o": { "a": 2 } })), vec![]).await;
            check(status(ThreadStatus::Error), vec![two]).await;
            check(ids(&[three, one, three, ThreadId::new()]), vec![one, three]).await;
            check(ThreadFilter { status: Some(ThreadStatus::Idle), ..ids(&[two]) }, vec![]).await;
        }
    }
}

#[tokio::test]
async fn a_search_reads_its_page_and_a_change_writes_one_thread() {
    let (records, store) = records();
    let mut last = None;
    for n in 0..500 {
        last = Some(thread(&records, json!({ "even": n % 2 == 0 })).await.thread_id);
    }
    store.take();
    search(&records, ThreadFilter::default(), NEWEST, 11).await;
    assert_eq!(store.take(), (1, 11));
    let even = ThreadFilter { metadata: object(json!({ "even": true })), ..ThreadFilter::default() };
    search(&records, even, NEWEST, 11).await;
    assert_eq!(store.take(), (1, 11));
    records.change_thread(last.unwrap(), |_| {}).await.unwrap();
    let (calls, items) = store.take();
    assert!(calls == 2 && items <= 5, "{calls} calls, {items} items");
}

#[tokio::test]
async fn runs_are_listed_newest_first_and_change_with_their_thread() {
    let (records, store) = records();
    let id = thread(&records, json!({})).await.thread_id;
    let mut runs = Vec::new();
    for _ in 0..30 {
        let run = run(id);
        records
            .create_run(&run, None, false, |thread| thread.status = ThreadStatus::Busy)
            .await
            .unwrap()
            .unwrap();
        runs.insert(0, run.run.run_id);
    }
    let newest = runs[0];
    let ended = records
        .change_run(id, newest, |run, thread| {
            run.run.status = RunStatus::Success;
            thread.status = ThreadStatus::Idle;
        })
        .await
        .unwrap()
        .unwrap();
    assert_eq!((ended.0.run.status, ended.1.status), (RunStatus::Success, ThreadStatus::Idle));
    assert_eq!(records.run(id, newest).await.unwrap(), Some(ended.0));
    let listed = async |status, offset, limit| {
        let found = records.runs(id, status, offset, limit).await.unwrap();
        found.into_iter().map(|run| run.run.run_id).collect::<Vec<_>>()
    };
    assert_eq!(listed(None, 0, 100).await, runs);
    store.take();
    assert_eq!(listed(None, 2, 3).await, runs[2..5]);
    assert_eq!(store.take(), (1, 5));
    assert_eq!(listed(Some(RunStatus::Success), 0, 5).await, [newest]);
    assert_eq!(listed(Some(RunStatus::Pending), 0, 2).await, runs[1..3]);
    let open: Vec<_> = records.open_runs().await.unwrap().into_iter().map(|run| run.run.run_id).collect();
    assert_eq!(open, runs[1..].iter().rev().copied().collect::<Vec<_>>());
    assert!(records.delete_run(id, runs[1], |_| {}).await.unwrap());
    assert!(!records.delete_run(id, runs[1], |_| {}).await.unwrap());
    assert_eq!(records.open_runs().await.unwrap().len(), 28);
    records.delete_thread(id).await.unwrap();
    assert_eq!(records.open_runs().await.unwrap(), []);
    assert_eq!(records.create_run(&run(id), None, false, |_| {}).await.unwrap(), None);
    assert_eq!(records.open_runs().await.unwrap(), []);
}

#[tokio::test]
async fn a_time_to_live_starts_again_with_each_change() {
    let (records, _) = records();
    let ttl = Some(Ttl { ttl: 1.0, strategy: TtlStrategy::Delete });
    let thread = ThreadRecord::new(ThreadId::new(), Object::new(), ttl);
    records.create_thread(thread.clone()).await.unwrap();
    let end = thread.expires_at.unwrap();
    let expired = async |now| records.expired_threads(now, 10, |_| false).await.unwrap().len();
    assert_eq!(expired(Timestamp::now()).await, 0);
    assert_eq!(expired(end).await, 1);
    let later = records.change_thread(thread.thread_id, |_| {}).await.unwrap().unwrap();
    assert!(later.expires_at.unwrap() > end);
    assert_eq!(expired(end).await, 0);
    records.change_thread(thread.thread_id, |thread| thread.ttl = None).await.unwrap();
    assert_eq!(expired(later.expires_at.unwrap()).await, 0);
}

#[tokio::test]
async fn an_assistant_keeps_its_versions() {
    let (records, _) = records();
    let mut assistant = AssistantRecord::of_graph("agent");
    let created = records.create_assistant(assistant.clone()).await.unwrap();
    assert_eq!(created, Created::New(assistant.clone()));
    let again = records.create_assistant(assistant.clone()).await.unwrap();
    assert_eq!(again, Created::Existing(assistant.clone()));
    let id = assistant.assistant_id;
    for n in 2..5 {
        let name = format!("name {n}");
        assistant = records.change_assistant(id, |assistant| assistant.name = name).await.unwrap().unwrap();
        assert_eq!(assistant.version, n);
    }
    let versions = records.versions(id, &Object::new(), 1, 2).await.unwrap();
    assert_eq!(versions.iter().map(|version| version.version).collect::<Vec<_>>(), [3, 2]);
    let Ok(super::Latest::Set(older)) = records.set_latest(id, 2).await else { panic!("a version") };
    assert_eq!((older.version, &*older.name), (2, "name 2"));
    assert!(matches!(records.set_latest(id, 9).await, Ok(super::Latest::NoVersion)));
    // A new version of an older one does not replace those in between.
    let next =
        records.change_assistant(id, |assistant| assistant.description = Some("new".into())).await.unwrap();
    assert_eq!(next.map(|next| (next.version, next.name)), Some((5, "name 2".to_owned())));
    assert!(records.delete_assistant(id).await.unwrap());
    assert_eq!(records.versions(id, &Object::new(), 0, 10).await.unwrap(), []);
    let all = (AssistantSort::CreatedAt, SortOrder::Descending);
    assert_eq!(records.assistants(&AssistantFilter::default(), all, 10).await.unwrap(), []);
}

#[tokio::test]
async fn concurrent_changes_of_a_thread_are_all_kept() {
    let (records, _) = records();
    let id = thread(&records, json!({})).await.thread_id;
    let changes = (0..50).map(|n| {
        let records = records.clone();
        tokio::spawn(async move {
            records.change_thread(id, |thread| drop(thread.metadata.insert(n.to_string(), n.into()))).await
        })
    });
    for change in changes.collect::<Vec<_>>() {
        change.await.unwrap().unwrap();
    }
    assert_eq!(records.thread(id).await.unwrap().unwrap().metadata.len(), 50);
}

#[tokio::test]
async fn a_run_and_its_new_thread_are_one_write() {
    let (records, store) = records();
    let id = ThreadId::new();
    store.take();
    assert!(records.create_run(&run(id), None, true, |_| {}).await.unwrap().is_some());
    // The thread is looked for and not found.
    assert_eq!(store.take().0, 2);
    assert!(records.thread(id).await.unwrap().is_some());
    assert_eq!(records.runs(id, None, 0, 10).await.unwrap().len(), 1);
}
