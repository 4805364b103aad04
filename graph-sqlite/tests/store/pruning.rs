use std::time::{Duration, UNIX_EPOCH};

use superstep_sqlite::SqliteCheckpointer;
use superstep_store::checkpoint::{CheckpointId, Checkpointer as _, Prune, RecordKind};

use crate::fixture::{File, step, wait, writer};

fn keep(store: &SqliteCheckpointer, count: usize) -> u64 {
    wait(store.prune(Prune::new().keep_last(count))).unwrap().checkpoints
}

fn rows(file: &File, table: &str) -> i64 {
    file.sql().query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
}

#[test]
fn remaining_checkpoints_are_unchanged() {
    let file = File::new();
    let store = file.open();
    let mut thread = writer(&store, "t");
    for index in 0..300 {
        let mut next = step().delta("l", &index.to_string()).value("v", &index.to_string());
        if index % 100 == 50 {
            next = next.value("l", "base");
        }
        thread.then(next);
    }
    let ids = thread.ids();
    let before: Vec<_> = ids.iter().map(|id| thread.load(*id)).collect();
    assert_eq!(keep(&store, 80), 220);
    assert_eq!(thread.ids(), ids[220..]);
    for (id, before) in ids[220..].iter().zip(&before[220..]) {
        assert_eq!(thread.load(*id), *before);
    }
    assert_eq!(thread.load(ids[219]).found, None);
    assert_eq!(keep(&store, 80), 0);
    // The changes since the value at 150 and the last 80 values remain.
    assert_eq!(rows(&file, "piece WHERE whole"), 80 + 2);
    let last = thread.then(step().delta("l", "more"));
    assert!(thread.field(last, "l").ends_with("+299 +more"));
}

#[test]
fn branches_keep_the_changes_they_need() {
    let file = File::new();
    let store = file.open();
    let mut thread = writer(&store, "t");
    let ids: Vec<_> = (0..200)
        .map(|index| thread.then(step().delta("l", &index.to_string()).value("v", &index.to_string())))
        .collect();
    // In the middle of a chunk.
    let fork = thread.add(step().after(ids[99]).delta("l", "f"));
    let tip = thread.add(step().after(fork).delta("l", "g"));
    let before = (thread.field(tip, "l"), thread.field(tip, "v"));
    assert_eq!(keep(&store, 1), 201);
    assert_eq!(thread.ids(), [tip]);
    assert_eq!((thread.field(tip, "l"), thread.field(tip, "v")), before);
    assert_eq!(rows(&file, "piece WHERE whole"), 1);
    let entries: i64 = file
        .sql()
        .query_row("SELECT sum(coalesce(length(entries) / 21, 1)) FROM piece WHERE NOT whole", [], |row| {
            row.get(0)
        })
        .unwrap();
    assert_eq!(entries, 102);
    // A branch that sets every field to a value needs no other branch.
    let anew = thread.then(step().value("l", "x").value("v", "y"));
    keep(&store, 1);
    assert_eq!((thread.field(anew, "l"), thread.field(anew, "v")), ("=x".into(), "=y".into()));
    assert_eq!(rows(&file, "piece"), 2);
    assert_eq!(rows(&file, "run"), 1);
}

#[test]
fn empty_branch_is_deleted() {
    let file = File::new();
    let store = file.open();
    let mut thread = writer(&store, "t");
    let first = thread.add(step().value("l", "0"));
    let mut last = first;
    for index in 0..10 {
        last = thread.add(step().after(first).delta("l", &index.to_string()));
    }
    assert_eq!(rows(&file, "line"), 10);
    keep(&store, 1);
    assert_eq!(rows(&file, "line"), 2);
    assert_eq!(thread.field(last, "l"), "=0 +9");
}

#[test]
fn open_interrupt_keeps_the_end_of_its_branch() {
    let file = File::new();
    let store = file.open();
    let mut thread = writer(&store, "t");
    let first = thread.then(step().value("l", "0").record(RecordKind::Interrupt, "followed"));
    let open = thread.then(step().delta("l", "1").record(RecordKind::Interrupt, "q"));
    let answered =
        thread.add(step().after(first).record(RecordKind::Interrupt, "q").record(RecordKind::Answer, "q"));
    let head = thread.add(step().after(first).delta("l", "2"));
    assert_eq!(keep(&store, 1), 2);
    assert_eq!(thread.ids(), [open, head]);
    assert_eq!(thread.load(answered).found, None);
    assert_eq!(thread.field(open, "l"), "=0 +1");
}

#[test]
fn conditions_combine_and_no_condition_prunes_nothing() {
    let file = File::new();
    let store = file.open();
    let mut thread = writer(&store, "t");
    let ids: Vec<CheckpointId> = (0..10).map(|index| thread.then(step().made(index * 1_000))).collect();
    writer(&store, "other").then(step());
    let prune = |prune| wait(store.prune(prune)).unwrap().checkpoints;
    let older = |seconds| Some(UNIX_EPOCH + Duration::from_secs(seconds));
    assert_eq!(prune(Prune::default()), 0);
    assert_eq!(prune(Prune::new().thread("t")), 0);
    assert_eq!(prune(Prune::new().thread("t").keep_last(6).older_than(older(8))), 4);
    assert_eq!(prune(Prune::new().thread("other").older_than(older(5))), 0);
    assert_eq!(prune(Prune::new().older_than(older(5))), 1);
    assert_eq!(thread.ids(), ids[5..]);
    assert_eq!(prune(Prune::new().older_than(older(1_000))), 4);
    assert_eq!(prune(Prune::new().keep_last(0)), 0);
}

#[test]
fn file_shrinks() {
    let file = File::new();
    let store = file.open();
    let mut thread = writer(&store, "t");
    for index in 0..500 {
        thread.then(step().value("v", &format!("{index}{}", "x".repeat(4_000))));
    }
    let full = file.size();
    keep(&store, 10);
    let small = file.size();
    assert!(small < full / 10, "{full} → {small}");
}

#[test]
fn other_writers_continue_during_a_prune() {
    let file = File::new();
    let store = file.open();
    let mut thread = writer(&store, "t");
    for index in 0..2_000 {
        thread.then(step().delta("l", &index.to_string()));
    }
    std::thread::scope(|scope| {
        let pruned = scope.spawn(|| keep(&store, 5));
        let mut other = writer(&store, "u");
        let mut last = thread.then(step().delta("l", "x"));
        while !pruned.is_finished() {
            other.then(step().delta("l", "1"));
            last = thread.then(step().delta("l", "y"));
        }
        assert!(thread.field(last, "l").starts_with("+0 +1 +2 "));
        assert!(pruned.join().unwrap() >= 1_995);
    });
}
