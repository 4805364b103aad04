//! Closing and dropping a store, and a file that changes while a store has it open.

use std::fs;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::task::{Context, Waker};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rusqlite::Connection;
use superstep_sqlite::{SqliteCache, SqliteCheckpointer, SqliteStore, Synchronous};
use superstep_store::cache::{Cache as _, CacheError, Clear, EntryKey, NewEntry};
use superstep_store::checkpoint::{BatchWrite, ChangeKind, FieldChange};
use superstep_store::checkpoint::{
    Checkpoint, CheckpointError, CheckpointId, CheckpointQuery, CheckpointSource, Checkpointer, Fence,
    NewCheckpoint, Prune, RunRecord, ThreadQuery, WriteBatch,
};
use superstep_store::payload::Payload;
use superstep_store::store::{Get, ItemKey, ItemWrite, ItemWrites, Store as _, StoreError};
use tempfile::TempDir;

fn file() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = fs::canonicalize(folder.path()).unwrap().join("threads.db");
    (folder, path)
}

/// The files of a folder, by name.
fn files(folder: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<_> = entries.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A batch that creates a thread with a value of this many bytes.
fn batch(thread: &str, bytes: usize) -> WriteBatch {
    let run = RunRecord::new("r", "p");
    let checkpoint = Checkpoint::new(CheckpointId::after(None), -1, CheckpointSource::Input, run, UNIX_EPOCH);
    let payload = Payload::json(format!("\"{}\"", "x".repeat(bytes)));
    let new = NewCheckpoint::new(checkpoint).changes(vec![FieldChange::new("f", ChangeKind::Value, payload)]);
    WriteBatch::new(thread, "o", Fence::default()).writes(vec![BatchWrite::checkpoint(new)])
}

async fn threads(store: &SqliteCheckpointer) -> usize {
    store.threads(ThreadQuery::new()).await.unwrap().items.len()
}

/// Drops the last handle of a file. Returns `true` if the file is closed, which a slow disk may prevent for a second.
fn closes(handle: impl Send) -> bool {
    let begin = Instant::now();
    drop(handle);
    begin.elapsed() < Duration::from_secs(1)
}

/// Polls a future once.
fn poll_once(future: impl Future) -> bool {
    pin!(future).poll(&mut Context::from_waker(Waker::noop())).is_ready()
}

/// Checks that a call has failed because the store is closed.
#[track_caller]
fn closed(error: &dyn std::error::Error) {
    let cause = error.source().expect("a cause").to_string();
    assert_eq!(cause, "the store was closed: open the file again", "{error}");
}

#[tokio::test]
async fn dropped_store_has_released_its_file() {
    for round in 0..20 {
        let (folder, path) = file();
        let store = SqliteCheckpointer::open(&path).unwrap();
        store.commit(batch("t", 1_000)).await.unwrap();
        assert_eq!(threads(&store).await, 1);
        if !closes(store) {
            continue;
        }
        // The log is part of the file, and no connection is left.
        assert_eq!(files(&folder), ["threads.db"], "round {round}");
        let moved = path.with_extension("moved");
        fs::rename(&path, &moved).unwrap();
        let alone = Connection::open(&moved).unwrap();
        alone.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT").unwrap();
        drop(alone);
        assert_eq!(threads(&SqliteCheckpointer::open(&moved).unwrap()).await, 1);
    }
}

#[tokio::test]
async fn file_stays_open_until_the_last_handle_is_dropped() {
    let (folder, path) = file();
    let store = SqliteCheckpointer::open(&path).unwrap();
    let (items, cache) = (store.store(), store.cache());
    drop(store);
    drop(items);
    assert_eq!(cache.clear(Clear::All).await.unwrap(), 0);
    assert_eq!(files(&folder).len(), 3);
    assert!(!closes(cache) || files(&folder) == ["threads.db"]);
}

#[tokio::test]
async fn accepted_writes_are_in_the_file_after_a_drop() {
    let (_folder, path) = file();
    let store = SqliteCheckpointer::options().synchronous(Synchronous::Normal).open(&path).unwrap();
    for n in 0..300 {
        poll_once(store.commit(batch(&format!("{n}"), 100)));
    }
    drop(store);
    assert_eq!(threads(&SqliteCheckpointer::open(&path).unwrap()).await, 300);
}

#[tokio::test]
async fn drop_does_not_block_for_longer_than_a_second() {
    let (_folder, path) = file();
    let store = SqliteCheckpointer::options().busy_timeout(Duration::from_secs(60)).open(&path).unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert!(!poll_once(store.commit(batch("t", 10))));
    let begin = Instant::now();
    drop(store);
    let took = begin.elapsed();
    assert!((Duration::from_secs(1)..Duration::from_secs(30)).contains(&took), "{took:?}");
    // The write is still made.
    other.execute_batch("ROLLBACK").unwrap();
    let store = SqliteCheckpointer::open(&path).unwrap();
    while threads(&store).await == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn drop_interrupts_a_read_and_stops_a_long_write() {
    let (folder, path) = file();
    let store = SqliteCheckpointer::options().synchronous(Synchronous::Normal).open(&path).unwrap();
    let items = store.store();
    let now = SystemTime::now();
    for block in 0..40 {
        let key = |n| ItemKey::new(["n"], format!("{block} {n}"));
        let put = |n| ItemWrite::put(key(n), Payload::json("1"));
        items.write(ItemWrites::new(now, (0..500).map(put).collect())).await.unwrap();
    }
    poll_once(items.search(superstep_store::store::Search::new(now, ["n"])));
    poll_once(store.prune(Prune::new().keep_last(1)));
    drop(store);
    assert!(!closes(items) || files(&folder) == ["threads.db"]);
}

#[tokio::test]
async fn close_completes_submitted_calls_and_refuses_later_ones() {
    let (folder, path) = file();
    let store = SqliteCheckpointer::open(&path).unwrap();
    let (items, cache, clone) = (store.store(), store.cache(), store.clone());
    let commits: Vec<_> = (0..50)
        .map(|n| {
            let store = store.clone();
            tokio::spawn(async move { store.commit(batch(&format!("{n}"), 10_000)).await })
        })
        .collect();
    let pruned = tokio::spawn({
        let store = store.clone();
        async move { store.prune(Prune::new().keep_last(1)).await }
    });
    let listed = tokio::spawn({
        let store = store.clone();
        async move { store.threads(ThreadQuery::new()).await }
    });
    // On this runtime of one thread, each task is polled once.
    tokio::task::yield_now().await;
    store.close().await.unwrap();
    assert_eq!(files(&folder), ["threads.db"]);
    for commit in commits {
        commit.await.unwrap().unwrap();
    }
    pruned.await.unwrap().unwrap();
    listed.await.unwrap().unwrap();

    let at = ItemKey::new(["n"], "k");
    let now = SystemTime::now();
    closed(&clone.commit(batch("late", 1)).await.unwrap_err());
    closed(&clone.get("0", "", None).await.unwrap_err());
    closed(&clone.list(CheckpointQuery::new("0")).await.unwrap_err());
    closed(&clone.delete("0", None).await.unwrap_err());
    closed(&clone.prune(Prune::new()).await.unwrap_err());
    closed(&items.get(Get::new(now, vec![at.clone()])).await.unwrap_err());
    let put = ItemWrites::new(now, vec![ItemWrite::put(at, Payload::json("1"))]);
    closed(&items.write(put).await.unwrap_err());
    closed(&items.delete_expired(now).await.unwrap_err());
    let entry = EntryKey::new("g", "n", "s", "k");
    closed(&cache.get(entry.clone(), now).await.unwrap_err());
    closed(&cache.put(vec![NewEntry::new(entry, Payload::json("1"))], now).await.unwrap_err());

    // Closing again, through any handle, has the same result.
    clone.close().await.unwrap();
    items.close().await.unwrap();
    cache.close().await.unwrap();
    assert_eq!(threads(&SqliteCheckpointer::open(&path).unwrap()).await, 50);
}

#[tokio::test]
async fn dropped_close_continues_and_can_be_awaited_again() {
    let (folder, path) = file();
    let store = SqliteStore::open(&path).unwrap();
    let now = SystemTime::now();
    let write = || ItemWrites::new(now, vec![ItemWrite::put(ItemKey::new(["n"], "k"), Payload::json("1"))]);
    poll_once(store.write(write()));
    poll_once(store.close());
    closed(&store.write(write()).await.unwrap_err());
    let (one, other) = tokio::join!(store.close(), store.close());
    one.unwrap();
    other.unwrap();
    assert_eq!(files(&folder), ["threads.db"]);
    let found = SqliteStore::open(&path).unwrap().get(Get::new(now, vec![ItemKey::new(["n"], "k")])).await;
    assert!(found.unwrap()[0].is_some());
}

#[tokio::test]
async fn close_waits_for_no_other_process() {
    let (_folder, path) = file();
    let (cache, other) = (SqliteCache::open(&path).unwrap(), SqliteCheckpointer::open(&path).unwrap());
    other.commit(batch("t", 10)).await.unwrap();
    cache.close().await.unwrap();
    assert_eq!(threads(&other).await, 1);
}

/// Migrates a file to a newer format, as a newer version of the crate does.
fn migrate(path: &Path) {
    let newer = Connection::open(path).unwrap();
    newer
        .execute_batch(
            "BEGIN EXCLUSIVE; ALTER TABLE thread ADD COLUMN color TEXT; PRAGMA user_version = 99; COMMIT",
        )
        .unwrap();
}

#[tokio::test]
async fn open_store_notices_a_newer_format() {
    let (_folder, path) = file();
    let store = SqliteCheckpointer::open(&path).unwrap();
    let (items, cache) = (store.store(), store.cache());
    store.commit(batch("t", 10)).await.unwrap();
    assert_eq!(threads(&store).await, 1);
    migrate(&path);
    let newer = |error: &CheckpointError| {
        assert!(matches!(error, CheckpointError::NewerFormat { found: 99, known: 5, .. }), "{error:?}");
    };
    let now = SystemTime::now();
    // Writes first, then reads, then several at once.
    newer(&store.commit(batch("u", 10)).await.unwrap_err());
    newer(&store.get("t", "", None).await.unwrap_err());
    newer(&store.delete("t", None).await.unwrap_err());
    let (one, other) = tokio::join!(store.commit(batch("v", 10)), store.copy("t", "w", None));
    newer(&one.unwrap_err());
    newer(&other.unwrap_err());
    let read = items.get(Get::new(now, vec![ItemKey::new(["n"], "k")])).await;
    assert!(matches!(read, Err(StoreError::NewerFormat { found: 99, .. })), "{read:?}");
    let swept = items.delete_expired(now).await;
    assert!(matches!(swept, Err(StoreError::NewerFormat { found: 99, .. })), "{swept:?}");
    let at = EntryKey::new("g", "n", "s", "k");
    let put = cache.put(vec![NewEntry::new(at.clone(), Payload::json("1"))], now).await;
    assert!(matches!(put, Err(CacheError::NewerFormat { found: 99, .. })), "{put:?}");
    let read = cache.get(at, now).await;
    assert!(matches!(read, Err(CacheError::NewerFormat { found: 99, .. })), "{read:?}");
    store.close().await.unwrap();

    let file = Connection::open(&path).unwrap();
    let names: Vec<String> = file
        .prepare("SELECT name FROM thread")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(names, ["t"]);
}

#[cfg(unix)]
#[tokio::test]
async fn no_write_to_a_deleted_or_replaced_file_is_acknowledged() {
    let refused = |result: Result<(), CheckpointError>| {
        let error = result.unwrap_err();
        let cause = std::error::Error::source(&error).unwrap().to_string();
        assert!(cause.contains("was deleted, renamed or replaced while it was open"), "{cause}");
    };
    let (folder, path) = file();
    let store = SqliteCheckpointer::open(&path).unwrap();
    store.commit(batch("t", 10)).await.unwrap();
    for name in files(&folder) {
        fs::remove_file(folder.path().join(name)).unwrap();
    }
    refused(store.commit(batch("u", 10)).await);
    // Another store creates a new file there.
    let other = SqliteCheckpointer::open(&path).unwrap();
    other.commit(batch("new", 10)).await.unwrap();
    refused(store.commit(batch("u", 10)).await);
    refused(store.delete("t", None).await.map(drop));
    drop(store);
    // The old store has left the new files alone.
    other.commit(batch("newer", 10)).await.unwrap();
    other.close().await.unwrap();
    assert_eq!(threads(&SqliteCheckpointer::open(&path).unwrap()).await, 2);

    // A file that is moved away and back is the same file.
    let store = SqliteCheckpointer::open(&path).unwrap();
    let moved = path.with_extension("moved");
    fs::rename(&path, &moved).unwrap();
    refused(store.commit(batch("u", 10)).await);
    fs::rename(&moved, &path).unwrap();
    store.commit(batch("u", 10)).await.unwrap();
}
