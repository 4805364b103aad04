//! Every format that was ever released stays readable and writable.
//!
//! `SUPERSTEP_SQLITE_GOLDEN=<number>` creates the files of a new format. The files of an old format never change.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use std::{env, fs};

use superstep_sqlite::{SqliteCache, SqliteCheckpointer, SqliteStore};
use superstep_store::cache::{Cache as _, EntryKey, NewEntry};
use superstep_store::checkpoint::{
    self, ChangeKind, Checkpoint, CheckpointId, CheckpointQuery, Checkpointer as _, RecordKey, RecordKind,
    RunRecord, StatusKind, StoredChange, StoredCheckpoint, StoredStatus, ThreadQuery,
};
use superstep_store::payload::{Encoding, Payload};
use superstep_store::store::{
    Embedding, Found, Item, ItemKey, ItemWrite, ItemWrites, Namespace, Near, Put, Search, Store as _, Ttl,
};

use crate::fixture::{File, batch, step, wait, writer};

fn golden(format: usize, extension: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/format-{format}.{extension}"))
}

fn text(payload: &Payload) -> String {
    format!("{} of {:?}", payload.bytes().escape_ascii(), payload.encoding())
}

/// Everything in a store as a string. Of a long history, it has the changes of the newest and of every tenth
/// checkpoint.
fn contents(store: &SqliteCheckpointer) -> String {
    let mut lines = Vec::new();
    for thread in wait(store.threads(ThreadQuery::default())).unwrap().items {
        lines.push(format!("thread {:?}, epoch {}", thread.thread, thread.epoch));
        for namespace in ["", "child"] {
            let query = CheckpointQuery::new(thread.thread.clone()).namespace(namespace);
            for (index, checkpoint) in wait(store.list(query)).unwrap().items.into_iter().enumerate() {
                lines.push(format!("{namespace:?} {}", describe_checkpoint(&checkpoint)));
                if index < 3 || index % 10 == 0 {
                    let loaded = wait(store.get(&thread.thread, namespace, Some(checkpoint.id))).unwrap();
                    lines.push(format!("  origin {:?}", loaded.origin.unwrap()));
                    lines.extend(describe_changes_and_records(loaded.found.unwrap()));
                }
            }
        }
    }
    let search = Search::new(UNIX_EPOCH + Duration::from_secs(1), Namespace::root());
    lines.extend(wait(store.store().search(search)).unwrap().items.iter().map(describe_item));
    for at in results() {
        let found = wait(store.cache().get(at.clone(), UNIX_EPOCH + Duration::from_millis(30))).unwrap();
        lines.extend(found.map(|result| format!("{at:?}: {}", text(&result))));
    }
    lines.join("\n")
}

/// The keys of the results.
fn results() -> [EntryKey; 2] {
    let at = |node: &str, key: &str| EntryKey::new("ticket \"17\"", node, "[\"Ticket\",[]]", key);
    [at("fetch", "\"\u{e9}\0\""), at("", "x00ff")]
}

fn put_results(cache: &SqliteCache) {
    let [one, other] = results();
    let entries = vec![
        NewEntry::new(one, Payload::json("{\"writes\":[]}")).ttl(Ttl::from_millis(5_000)),
        NewEntry::new(other, Payload::new(Encoding::Bytes, vec![0, 255])),
    ];
    wait(cache.put(entries, UNIX_EPOCH + Duration::from_millis(20))).unwrap();
}

fn describe_item(found: &Found) -> String {
    let Item { namespace, key, value, created_at, updated_at, expires_at, .. } = &found.item;
    let millis = |time: &SystemTime| time.duration_since(UNIX_EPOCH).unwrap().as_millis();
    let [created, updated] = [created_at, updated_at].map(millis);
    let expires = expires_at.as_ref().map(millis);
    format!("{namespace} {key:?}: {}, created {created}, updated {updated}, expires {expires:?}", text(value))
}

fn describe_checkpoint(checkpoint: &Checkpoint) -> String {
    let Checkpoint { id, parent, step, source, run, created_at, next, progress, .. } = checkpoint;
    let parent = parent.map(|parent| parent.to_string());
    let created = created_at.duration_since(UNIX_EPOCH).unwrap().as_millis();
    let RunRecord { id: run, program, metadata, .. } = &**run;
    let metadata = serde_json::to_string(metadata).unwrap();
    let progress = progress.as_ref().map(text);
    format!(
        "{id} after {parent:?}, step {step}, {}, run {run:?} of {program:?} {metadata}, made {created}, \
         next {next:?}, progress {progress:?}",
        source.name()
    )
}

fn describe_changes_and_records(mut found: StoredCheckpoint) -> Vec<String> {
    found.fields.sort_by(|one, other| one.field.cmp(&other.field));
    let fields = found.fields.iter().map(|field| {
        let change = |change: &StoredChange| {
            let sign = if change.kind == ChangeKind::Value { '=' } else { '+' };
            format!("{sign}{}", text(&change.payload))
        };
        format!("  {:?}: {}", field.field, field.changes.iter().map(change).collect::<Vec<_>>().join(", "))
    });
    let records = found.records.iter().map(|record| {
        let RecordKey { task, kind, key, .. } = &record.key;
        format!("  task {task}, {}, {key:?}: {}", kind.code(), text(&record.payload))
    });
    fields.chain(records).collect()
}

fn put_items(store: &SqliteStore) {
    let put = |namespace: &[&str], key: &str, value: Payload| {
        Put::new(ItemKey::new(namespace, key), value)
            .ttl(Ttl::from_millis(5_000))
            .embedding(Embedding::new("m", vec![vec![1.0, -0.5], vec![0.1, 1e-30]]).ok())
    };
    let puts = [
        put(&["users", "\u{e9}\0"], "a.b", Payload::json("{\"f\":1.50}")),
        put(&[], "", Payload::new(Encoding::Bytes, vec![0, 255])).ttl(None),
        put(&["", "users"], "\0", Payload::json("null")).embedding(None),
    ];
    for millis in [10, 20] {
        let writes = puts.iter().cloned().map(|put| ItemWrite::Put(Box::new(put))).collect();
        wait(store.write(ItemWrites::new(UNIX_EPOCH + Duration::from_millis(millis), writes))).unwrap();
    }
}

fn wake_up() -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(1_700_000_100_001)
}

/// Returns the status of each thread.
fn statuses(store: &SqliteCheckpointer) -> Vec<StoredStatus> {
    wait(store.threads(ThreadQuery::default())).unwrap().items.iter().map(|thread| thread.status).collect()
}

/// Returns the names of the threads that a query lists.
fn names(store: &SqliteCheckpointer, query: ThreadQuery) -> Vec<String> {
    wait(store.threads(query)).unwrap().items.iter().map(|thread| thread.thread.to_string()).collect()
}

/// Creates a golden file with some data of every kind.
fn make(format: usize) {
    let file = File::new();
    let store = file.open();
    let mut thread = writer(&store, "ticket \"17\"");
    let ids: Vec<CheckpointId> = (0..70_u64)
        .map(|index| {
            let next = step().delta("notes", &format!("[{index}]")).made(1_700_000_000_000 + index);
            thread.then(if index % 30 == 0 { next.value("draft", &format!("\"{index}\"")) } else { next })
        })
        .collect();
    let question = step().after(ids[20]).delta("notes", "[\"fork\"]").record(RecordKind::Interrupt, "q\0");
    let fork = thread.add(question.record(RecordKind::Answer, "q\0"));
    thread.then(step().value("notes", "[]").delta("notes", "[\"anew\"]").record(RecordKind::Step, ""));
    thread.fence.epoch = {
        let mut raise = batch("ticket \"17\"", thread.fence, vec![]);
        raise.epoch += 3;
        wait(store.commit(raise)).unwrap();
        3
    };
    let (_, mut other) = step().made(5).batch("other", Default::default());
    other.namespace = "child".into();
    if let checkpoint::BatchWrite::Checkpoint(new) = &mut other.writes[0] {
        new.checkpoint.progress = Some(Payload::new(Encoding::Bytes, vec![0, 1, 0xff]));
        new.checkpoint.step = -1;
        let metadata = r#"{"user": "ü", "n": 1.0, "deep": {"null": null}}"#;
        let mut run = (*new.checkpoint.run).clone();
        run.metadata = serde_json::from_str(metadata).unwrap();
        new.checkpoint.run = run.into();
    }
    other.status = Some(StoredStatus::new(StatusKind::Finished));
    wait(store.commit(other)).unwrap();
    let waiting = StoredStatus::new(StatusKind::WaitingForAnswer).wakes_at(wake_up());
    wait(store.commit(batch("ticket \"17\"", thread.fence, vec![]).status(waiting))).unwrap();
    assert_eq!(thread.field(fork, "draft"), "=\"0\"");
    put_items(&store.store());
    put_results(&store.cache());
    fs::create_dir_all(golden(format, "db").parent().unwrap()).unwrap();
    fs::write(golden(format, "txt"), contents(&store)).unwrap();
    file.size();
    fs::copy(file.path(), golden(format, "db")).unwrap();
}

#[test]
fn every_released_format_is_read_and_written() {
    if let Ok(format) = env::var("SUPERSTEP_SQLITE_GOLDEN") {
        make(format.parse().unwrap());
    }
    for format in 1..=5 {
        let file = File::new();
        fs::copy(golden(format, "db"), file.path()).unwrap();
        let store = file.open();
        assert_eq!(contents(&store), fs::read_to_string(golden(format, "txt")).unwrap());
        let [other, ticket] = statuses(&store)[..] else { panic!("{:?}", statuses(&store)) };
        match format {
            1..=3 => assert_eq!((other.kind, ticket.kind), (StatusKind::Unknown, StatusKind::Unknown)),
            _ => {
                let waiting = StoredStatus::new(StatusKind::WaitingForAnswer).wakes_at(wake_up());
                assert_eq!((other, ticket), (StoredStatus::new(StatusKind::Finished), waiting));
            }
        }
        let due = names(&store, ThreadQuery::new().due(wake_up()));
        assert_eq!(due, if format < 4 { vec!["other", "ticket \"17\""] } else { vec!["ticket \"17\""] });
        let mut thread = writer(&store, "ticket \"17\"");
        let next = thread.then(step().delta("notes", "[1]"));
        assert_eq!(thread.field(next, "notes"), "=[] +[\"anew\"] +[1]");
        let items = store.store();
        if format == 1 {
            put_items(&items);
        }
        if format < 3 {
            put_results(&store.cache());
        }
        let now = UNIX_EPOCH + Duration::from_millis(5_019);
        for at in results() {
            assert!(wait(store.cache().get(at, now)).unwrap().is_some());
        }
        let near = Near::new("m", vec![2.0, -1.0]).ok();
        let now = UNIX_EPOCH + Duration::from_secs(1);
        let found = wait(items.search(Search::new(now, Namespace::root()).near(near))).unwrap().items;
        let scores: Vec<_> = found.iter().map(|found| (&*found.key, found.score)).collect();
        assert_eq!(scores, [("", Some(1.0)), ("a.b", Some(1.0))]);
    }
}

#[test]
fn migration_finds_every_unfinished_thread() {
    let goto = "INSERT INTO record (checkpoint, task, kind, key, encoding, payload) \
                SELECT max(id), 4294967295, 7, '0000', 0, 'again' FROM checkpoint";
    let checks: [(&[&str], _); 4] = [
        (&["UPDATE checkpoint SET next = '[\"a\"]'"], StatusKind::Unknown),
        (&["UPDATE checkpoint SET next = '[]'"], StatusKind::Finished),
        (&["UPDATE checkpoint SET next = '[]'", goto], StatusKind::Unknown),
        (
            &[
                "UPDATE checkpoint SET next = '[]'",
                "UPDATE checkpoint SET next = 'damaged' WHERE id = (SELECT max(id) FROM checkpoint)",
            ],
            StatusKind::Unknown,
        ),
    ];
    for (changes, expected) in checks {
        let file = File::new();
        fs::copy(golden(3, "db"), file.path()).unwrap();
        // The newest checkpoint in the file then belongs to this thread.
        let old = rusqlite::Connection::open(file.path()).unwrap();
        old.execute_batch("DELETE FROM thread WHERE name = 'other'; DELETE FROM namespace WHERE name <> ''")
            .unwrap();
        old.execute_batch("DELETE FROM checkpoint WHERE namespace NOT IN (SELECT id FROM namespace)")
            .unwrap();
        for change in changes {
            old.execute_batch(change).unwrap();
        }
        drop(old);
        let store = file.open();
        assert_eq!(statuses(&store)[0].kind, expected, "{changes:?}");
        let unfinished = names(&store, ThreadQuery::new().unfinished(true)).len();
        assert_eq!(unfinished, usize::from(expected == StatusKind::Unknown), "{changes:?}");
        let due = names(&store, ThreadQuery::new().due(UNIX_EPOCH)).len();
        assert_eq!(due, unfinished, "{changes:?}");
    }
}

#[test]
fn files_of_older_formats_are_listed_and_rolled_back() {
    for format in 1..=5 {
        let file = File::new();
        fs::copy(golden(format, "db"), file.path()).unwrap();
        let metadata = r#"{"user": "Ada"}"#;
        if format < 5 {
            let old = rusqlite::Connection::open(file.path()).unwrap();
            let changed =
                "UPDATE run SET metadata = ?1 WHERE thread = (SELECT id FROM thread WHERE name <> 'other')";
            old.execute(changed, [metadata]).unwrap();
        }
        let store = file.open();
        let by_metadata = ThreadQuery::new().metadata(serde_json::from_str(metadata).unwrap());
        let expected: &[&str] = if format < 5 { &["ticket \"17\""] } else { &[] };
        assert_eq!(names(&store, by_metadata.clone()), expected, "format {format}");
        assert_eq!(names(&store, by_metadata.newest_first(true)), expected, "format {format}");
        let newest = names(&store, ThreadQuery::new().newest_first(true));
        assert_eq!(newest, ["other", "ticket \"17\""], "an unknown time sorts by name");

        let query = || CheckpointQuery::new("ticket \"17\"");
        let all = wait(store.history(query())).unwrap().expand();
        let mut thread = writer(&store, "ticket \"17\"");
        // From the end back over the fork, into the branch before it.
        for back in [1, 2, 30, 60] {
            let target = all[back].checkpoint.id;
            let write = checkpoint::BatchWrite::roll_back("", target);
            wait(store.commit(batch("ticket \"17\"", thread.fence, vec![write]))).unwrap();
            thread.fence.head = Some(target);
            let left = wait(store.history(query())).unwrap().expand();
            assert_eq!(left.len(), all.len() - back);
            for (expected, found) in all[back..].iter().zip(left) {
                assert_eq!(describe_checkpoint(&expected.checkpoint), describe_checkpoint(&found.checkpoint));
                let expected = describe_changes_and_records(expected.clone());
                assert_eq!(expected, describe_changes_and_records(found));
            }
        }
        let next = thread.then(step().delta("notes", "[\"next\"]"));
        assert!(
            thread.field(next, "notes").ends_with("+[11] +[\"next\"]"),
            "{}",
            thread.field(next, "notes")
        );
    }
}
