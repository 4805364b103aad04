//! Tests of group commits and prunes: failing transactions, abandoned writes, shared rows, writes during a prune.

use std::task::{Context, Poll, Waker};
use std::time::{Duration, SystemTime};

use superstep_store::checkpoint::{
    BatchWrite, ChangeKind, Checkpoint, CheckpointError, CheckpointId, CheckpointSource, Fence, FieldChange,
    NewCheckpoint, Prune, RecordKey, RunRecord, TaskRecord, WriteBatch,
};
use superstep_store::payload::Payload;
use tempfile::TempDir;

use crate::error::Operation;
use crate::options::SqliteOptions;
use crate::{connection, reader};

use super::{MAX_GROUP, Pruning, Session, Write, WriteQueue, WriteStatus, commit};

mod inline;

fn session() -> (TempDir, Session) {
    session_with(SqliteOptions::new())
}

fn session_with(options: SqliteOptions) -> (TempDir, Session) {
    let folder = tempfile::tempdir().unwrap();
    let options = options.busy_timeout(Duration::from_millis(20));
    let path = connection::create_file(&folder.path().join("threads.db")).unwrap();
    let db = connection::writer(&path, &options).unwrap();
    (folder, Session::new(db, &path, &options))
}

fn batch(thread: &str, fence: Fence, bytes: usize) -> WriteBatch {
    let run = RunRecord::new("r", "p");
    let id = CheckpointId::after(fence.head);
    let checkpoint =
        Checkpoint::new(id, 0, CheckpointSource::Loop, run, SystemTime::now()).parent(fence.head);
    let payload = Payload::json("x".repeat(bytes));
    let changes = vec![FieldChange::new("f", ChangeKind::Delta, payload)];
    let new = NewCheckpoint::new(checkpoint).changes(changes);
    WriteBatch::new(thread, "o", fence).writes(vec![BatchWrite::checkpoint(new)])
}

/// Commits these batches in one transaction if that is possible.
fn together(session: &mut Session, batches: &[WriteBatch]) -> Vec<Result<(), CheckpointError>> {
    let writes = WriteQueue::new();
    let mut calls: Vec<_> = batches
        .iter()
        .map(|batch| {
            let batch = batch.clone();
            let operation = Operation { name: "write a checkpoint", ..Operation::default() };
            Box::pin(
                writes
                    .submit(operation, false, move |session| commit(session, &batch).map(WriteStatus::Done)),
            )
        })
        .collect();
    let mut poll = |call: usize| calls[call].as_mut().poll(&mut Context::from_waker(Waker::noop()));
    for call in 0..batches.len() {
        assert!(poll(call).is_pending());
    }
    let queue = writes.queue();
    session.run_all(queue.take(MAX_GROUP), &queue).into_iter().for_each(Write::reply);
    (0..batches.len())
        .map(|call| match poll(call) {
            Poll::Ready(done) => done,
            Poll::Pending => panic!("no reply"),
        })
        .collect()
}

fn pages(session: &Session) -> i64 {
    session.db.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap()
}

fn allow(session: &Session, pages: i64) {
    session.db.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(())).unwrap();
}

fn head(session: &Session, thread: &str) -> Fence {
    reader::get(&session.db, thread, "", None).unwrap().fence
}

#[test]
fn checkpoints_of_a_batch_share_rows() {
    let (_folder, mut session) = session();
    let mut all = batch("a", Fence::default(), 10);
    for _ in 1..200 {
        let Some(BatchWrite::Checkpoint(last)) = all.writes.last() else { panic!("a batch of checkpoints") };
        let mut next = batch("a", Fence::new(0, last.checkpoint.id), 10);
        all.writes.append(&mut next.writes);
    }
    together(&mut session, &[all])[0].as_ref().unwrap();
    let rows: u32 = session.db.query_row("SELECT count(*) FROM piece", [], |row| row.get(0)).unwrap();
    assert_eq!(rows, 200_u32.div_ceil(u32::try_from(crate::chunk::MAX_ENTRIES).unwrap()));
    let loaded = reader::get(&session.db, "a", "", None).unwrap();
    assert_eq!(loaded.found.unwrap().fields[0].changes.len(), 200);
}

#[test]
fn full_disk_fails_only_the_write_that_does_not_fit() {
    let (_folder, mut session) = session();
    together(&mut session, &[batch("a", Fence::default(), 10)])[0].as_ref().unwrap();
    allow(&session, pages(&session) + 4);
    let before = head(&session, "a");
    let large = batch("a", before, 1_000_000);
    let results = together(
        &mut session,
        &[batch("b", Fence::default(), 10), large.clone(), batch("c", Fence::default(), 10)],
    );
    assert!(results[0].is_ok() && results[2].is_ok(), "{results:?}");
    let Err(CheckpointError::Backend { source, .. }) = &results[1] else { panic!("{results:?}") };
    assert!(source.to_string().contains("full"), "{source}");
    assert_eq!(head(&session, "a"), before);
    // With free space again, the same call succeeds: the row cache holds nothing wrong.
    allow(&session, 1_000_000);
    together(&mut session, &[large])[0].as_ref().unwrap();
    let next = head(&session, "a");
    assert_ne!(next, before);
    let both = [batch("a", next, 10), batch("b", head(&session, "b"), 10)];
    together(&mut session, &both).into_iter().try_for_each(|done| done).unwrap();
}

#[test]
fn locked_file_is_a_clear_error() {
    let (folder, mut session) = session();
    let other = rusqlite::Connection::open(folder.path().join("threads.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let batches = [batch("a", Fence::default(), 10), batch("b", Fence::default(), 10)];
    for result in together(&mut session, &batches) {
        let Err(CheckpointError::Unavailable { source, .. }) = result else { panic!("{result:?}") };
        assert!(source.to_string().contains("kept the file locked for longer"), "{source}");
    }
    other.execute_batch("ROLLBACK").unwrap();
    for result in together(&mut session, &batches) {
        result.unwrap();
    }
}

#[test]
fn read_waits_for_abandoned_writes() {
    let (_folder, mut session) = session();
    let writes = WriteQueue::new();
    let mut cx = Context::from_waker(Waker::noop());
    let mut wait_for_abandoned = Box::pin(writes.wait_for_abandoned());
    assert!(wait_for_abandoned.as_mut().poll(&mut cx).is_ready(), "there is nothing to wait for");
    let one = batch("a", Fence::default(), 10);
    let mut abandoned =
        Box::pin(writes.submit(Operation::default(), false, move |session| {
            commit(session, &one).map(WriteStatus::Done)
        }));
    assert!(abandoned.as_mut().poll(&mut cx).is_pending());
    drop(abandoned);
    let mut wait_for_abandoned = Box::pin(writes.wait_for_abandoned());
    assert!(wait_for_abandoned.as_mut().poll(&mut cx).is_pending());
    let queue = writes.queue();
    session.run_all(queue.take(MAX_GROUP), &queue).into_iter().for_each(Write::reply);
    assert!(wait_for_abandoned.as_mut().poll(&mut cx).is_ready());
    assert!(head(&session, "a").head.is_some());
    let mut wait_for_abandoned = Box::pin(writes.wait_for_abandoned());
    assert!(wait_for_abandoned.as_mut().poll(&mut cx).is_ready(), "it has been waited for");
}

/// A batch of checkpoints in a namespace, and the id of the first.
fn checkpoints(namespace: &str, count: usize, records: &[TaskRecord]) -> (WriteBatch, CheckpointId) {
    let mut all = batch("a", Fence::default(), 10).namespace(namespace);
    let mut ids = Vec::new();
    all.writes.clear();
    for _ in 0..count {
        let mut next = batch("a", Fence::new(0, ids.last().copied()), 10);
        for write in &mut next.writes {
            let BatchWrite::Checkpoint(new) = write else { panic!("a checkpoint") };
            new.records = records.to_vec();
            ids.push(new.checkpoint.id);
        }
        all.writes.append(&mut next.writes);
    }
    (all, ids[0])
}

#[test]
fn prune_keeps_checkpoints_that_are_needed_since_it_began() {
    let (folder, mut session) = session();
    let (root, first) = checkpoints("", 3, &[]);
    together(&mut session, &[root])[0].as_ref().unwrap();
    together(&mut session, &[checkpoints("call", 600, &[]).0])[0].as_ref().unwrap();
    let mut needed = first;
    for by_another_connection in [false, true] {
        let mut pruning = Pruning::new(Prune::new().thread("a").keep_last(1));
        assert!(
            matches!(pruning.advance(&mut session).unwrap(), WriteStatus::More),
            "it takes several steps"
        );
        let needs = TaskRecord::new(RecordKey::retaining(needed, ""), Payload::json("null"));
        let namespace = format!("call/{by_another_connection}");
        let (needing, _) = checkpoints(&namespace, 1, &[needs]);
        if by_another_connection {
            let path = folder.path().join("threads.db");
            let options = SqliteOptions::new();
            let db = connection::writer(&path, &options).unwrap();
            let mut other = Session::new(db, &path, &options);
            together(&mut other, &[needing])[0].as_ref().unwrap();
        } else {
            together(&mut session, &[needing])[0].as_ref().unwrap();
        }
        while let WriteStatus::More = pruning.advance(&mut session).unwrap() {}
        assert!(reader::get(&session.db, "a", "", Some(needed)).unwrap().found.is_some());
        // Enough for a second prune of several steps.
        let (more, _) = checkpoints(&format!("call{by_another_connection}"), 600, &[]);
        together(&mut session, &[more])[0].as_ref().unwrap();
        let loaded = reader::get(&session.db, "a", "", None).unwrap();
        needed = loaded.fence.head.unwrap();
        let after = batch("a", loaded.fence, 10);
        together(&mut session, &[after])[0].as_ref().unwrap();
    }
}
