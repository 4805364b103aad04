use superstep_store::checkpoint::{CheckpointError, CheckpointId, Checkpointer as _, RecordKind};

use crate::fixture::{File, step, wait, writer};

/// Runs a statement on a closed store's file. Returns the head and the error of reading it.
fn after(statement: &str) -> (CheckpointId, String) {
    let file = File::new();
    let store = file.open();
    let mut thread = writer(&store, "t");
    let mut head = thread.then(step().value("v", "1").delta("l", "0").record(RecordKind::Step, "k"));
    for index in 1..150 {
        head = thread.then(step().delta("l", &index.to_string()).record(RecordKind::Step, "k"));
    }
    drop(store);
    let changed = file.sql().execute(statement, []).unwrap();
    assert!(changed > 0, "{statement}");
    let store = file.open();
    match wait(store.get("t", "", Some(head))) {
        Err(CheckpointError::Corrupt(corrupt)) => {
            assert_eq!(&*corrupt.thread, "t");
            (head, corrupt.to_string().replace(&head.to_string(), "HEAD"))
        }
        other => panic!("{statement}: {other:?}"),
    }
}

#[test]
fn corruption_error_names_thread_checkpoint_and_field() {
    for (statement, expected) in [
        (
            "UPDATE piece SET data = 'x' WHERE entries IS NOT NULL",
            "field `l` of thread `t`, at checkpoint ID, cannot be read: a row of `piece`: a chunk: its entries have 219 bytes, but there are 1",
        ),
        (
            "UPDATE piece SET entries = x'00' WHERE entries IS NOT NULL",
            "field `l` of thread `t`, at checkpoint ID, cannot be read: a row of `piece`: a chunk: the headers of its entries are cut off",
        ),
        (
            "UPDATE piece SET encoding = 99 WHERE whole",
            "field `v` of thread `t`, at checkpoint ID, cannot be read: a row of `piece`: the value: unknown encoding 99",
        ),
        (
            "UPDATE piece SET encoding = NULL WHERE whole",
            "field `v` of thread `t`, at checkpoint ID, cannot be read: a row of `piece`: column `encoding`: its type is Null",
        ),
        (
            "UPDATE piece SET data = 7 WHERE whole",
            "field `v` of thread `t`, at checkpoint ID, cannot be read: a row of `piece`: the value: its type is Integer",
        ),
        (
            "DELETE FROM piece WHERE id = (SELECT min(id) FROM piece WHERE entries IS NOT NULL)",
            "field `l` of thread `t`, cannot be read: a chunk: some changes are missing",
        ),
        (
            "DELETE FROM piece WHERE id = (SELECT max(id) - 1 FROM piece)",
            "field `l` of thread `t`, at checkpoint ID, cannot be read: a chunk: some changes are missing",
        ),
        (
            "DELETE FROM run",
            "the checkpoint of thread `t`, at checkpoint HEAD, cannot be read: the run: it is missing",
        ),
        (
            "UPDATE run SET metadata = '[]'",
            "the checkpoint of thread `t`, at checkpoint HEAD, cannot be read: the run's metadata: it is not a JSON object",
        ),
        (
            "DELETE FROM line",
            "the checkpoint's branch of thread `t`, at checkpoint HEAD, cannot be read: it is missing",
        ),
        (
            "UPDATE checkpoint SET source = 'dream'",
            "the checkpoint of thread `t`, at checkpoint HEAD, cannot be read: the source: unknown value",
        ),
        (
            "UPDATE checkpoint SET next = '{}'",
            "the checkpoint of thread `t`, at checkpoint HEAD, cannot be read: the planned nodes: they are not a list of names",
        ),
        (
            "UPDATE checkpoint SET parent = 'x'",
            "the checkpoint of thread `t`, at checkpoint HEAD, cannot be read: column 1: it is not a checkpoint id",
        ),
        (
            "UPDATE record SET kind = 77",
            "the checkpoint of thread `t`, at checkpoint HEAD, cannot be read: a record: its kind: unknown code 77",
        ),
        (
            "UPDATE checkpoint SET next = CAST(x'5b22ff225d' AS TEXT)",
            "the checkpoint of thread `t`, at checkpoint HEAD, cannot be read: column 5: it is not UTF-8",
        ),
    ] {
        let (_, found) = after(statement);
        let found = match found.split_once("at checkpoint ") {
            Some((start, rest)) if !rest.starts_with("HEAD") => {
                format!("{start}at checkpoint ID{}", &rest[26..])
            }
            _ => found,
        };
        assert!(found.starts_with(expected), "{statement}\n  {found}\n  {expected}");
    }
}

#[test]
fn corrupt_count_is_reported_with_its_row() {
    let file = File::new();
    let store = file.open();
    let head = writer(&store, "t").then(step().value("v", "[1]"));
    drop(store);
    let sql = file.sql();
    // The table is strict, so that only a damaged file has another type.
    let not_strict = "UPDATE sqlite_schema SET sql = replace(sql, 'STRICT', '') WHERE name = 'piece'";
    sql.execute_batch(&format!("PRAGMA writable_schema = ON; {not_strict}")).unwrap();
    drop(sql);
    assert_eq!(file.sql().execute("UPDATE piece SET before = 'x' WHERE whole", []).unwrap(), 1);
    let Err(CheckpointError::Corrupt(corrupt)) = wait(file.open().get("t", "", Some(head))) else {
        panic!("the damaged row was read");
    };
    assert_eq!(corrupt.checkpoint, Some(head));
    assert!(corrupt.to_string().contains("a row of `piece`: column `before`"), "{corrupt}");
}

#[test]
fn corrupt_chunk_does_not_stop_writes() {
    let file = File::new();
    let store = file.open();
    let mut thread = writer(&store, "t");
    for index in 0..40 {
        thread.then(step().delta("l", &index.to_string()));
    }
    file.sql().execute("UPDATE piece SET encoding = 99 WHERE loose = 5", []).unwrap();
    let mut last = None;
    for index in 40..80 {
        last = Some(thread.then(step().delta("l", &index.to_string()).value("v", "1")));
    }
    assert!(matches!(wait(store.get("t", "", last)), Err(CheckpointError::Corrupt(_))));
    assert_eq!(thread.ids().len(), 80);
}
