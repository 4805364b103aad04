//! Calls on their caller's thread: commits whose caller has nothing else to do, with `Synchronous::Normal`, and reads of heads
//! that were just written.

use std::task::Poll;
use std::time::{Duration, Instant};

use superstep_sqlite::{SqliteCheckpointer, Synchronous};
use superstep_store::checkpoint::{CheckpointError, Checkpointer as _, Fence, WriteBatch};

use crate::fixture::{File, Step, poll_once, step, wait, writer};

/// Commits a batch. Returns `true` if the first poll has done so, here or because the writing thread was fast.
fn commit(store: &SqliteCheckpointer, batch: WriteBatch) -> (bool, Result<(), CheckpointError>) {
    let mut call = store.commit(batch.awaited(true));
    match poll_once(&mut call) {
        Poll::Ready(done) => (true, done),
        Poll::Pending => (false, wait(call)),
    }
}

fn next(fence: Fence) -> Step {
    let mut step = step().delta("l", "1");
    step.parent = fence.head;
    step
}

/// Adds steps to the thread `t`. Returns how many of them the first poll has committed.
fn add(store: &SqliteCheckpointer, steps: usize) -> usize {
    let mut fence = writer(store, "t").fence;
    let at_once = |_: &usize| {
        let (id, batch) = next(fence).batch("t", fence);
        let (at_once, done) = commit(store, batch);
        done.unwrap();
        fence.head = Some(id);
        at_once
    };
    (0..steps).filter(at_once).count()
}

fn open(file: &File) -> SqliteCheckpointer {
    SqliteCheckpointer::options()
        .synchronous(Synchronous::Normal)
        .busy_timeout(Duration::from_secs(60))
        .open(file.path())
        .unwrap()
}

#[test]
fn small_commit_is_done_at_the_first_poll() {
    let file = File::new();
    let store = open(&file);
    let at_once = add(&store, 1_000);
    assert!(at_once > 800, "{at_once}");
    let thread = writer(&store, "t");
    assert_eq!(thread.ids().len(), 1_000);
    assert_eq!(thread.field(thread.fence.head.unwrap(), "l"), vec!["+1"; 1_000].join(" "));
}

#[test]
fn locked_file_does_not_block_the_caller() {
    let file = File::new();
    let store = open(&file);
    assert!(add(&store, 20) > 0);
    let other = file.sql();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let fence = writer(&store, "t").fence;
    let (id, batch) = next(fence).batch("t", fence);
    let begin = Instant::now();
    let mut call = store.commit(batch.awaited(true));
    assert!(poll_once(&mut call).is_pending());
    assert!(begin.elapsed() < Duration::from_secs(30), "{:?}", begin.elapsed());
    other.execute_batch("ROLLBACK").unwrap();
    wait(call).unwrap();
    assert_eq!(writer(&store, "t").fence.head, Some(id));
    // The busy timeout is in force again.
    assert!(add(&store, 20) > 0);
}

#[test]
fn commit_after_another_writer_is_checked_against_its_write() {
    let file = File::new();
    let (store, other) = (open(&file), open(&file));
    assert!(add(&store, 20) > 0);
    let stale = writer(&store, "t").fence;
    commit(&other, next(stale).batch("t", stale).1).1.unwrap();
    let (_, done) = commit(&store, next(stale).batch("t", stale).1);
    assert!(matches!(done, Err(CheckpointError::Conflict(_))), "{done:?}");
    assert!(add(&store, 220) > 0);
    assert_eq!(writer(&store, "t").ids().len(), 241);
}

#[test]
fn commit_does_not_overtake_an_earlier_one() {
    let file = File::new();
    let store = open(&file);
    add(&store, 20);
    let mut fence = writer(&store, "t").fence;
    for round in 0..100 {
        let (id, batch) = next(fence).batch("t", fence);
        let _ = poll_once(&mut store.commit(batch));
        fence.head = Some(id);
        let (id, batch) = next(fence).batch("t", fence);
        commit(&store, batch).1.unwrap_or_else(|error| panic!("round {round}: {error}"));
        fence.head = Some(id);
    }
}

#[test]
fn refused_commit_writes_nothing() {
    let file = File::new();
    let store = open(&file);
    add(&store, 20);
    let fence = writer(&store, "t").fence;
    let stale = Fence::new(fence.epoch + 1, fence.head);
    let (_, done) = commit(&store, next(fence).batch("t", stale).1);
    assert!(matches!(done, Err(CheckpointError::Conflict(_))), "{done:?}");
    assert!(add(&store, 20) > 0);
    assert_eq!(writer(&store, "t").ids().len(), 40);
    wait(store.close()).unwrap();
    let (_, done) = commit(&store, next(fence).batch("t", fence).1);
    assert!(matches!(done, Err(CheckpointError::Backend { .. })), "{done:?}");
}

#[test]
fn new_head_is_read_at_the_first_poll() {
    let file = File::new();
    let store = open(&file);
    let mut at_once = 0;
    for steps in 1..=100 {
        add(&store, 1);
        match poll_once(&mut store.get("t", "", None)) {
            Poll::Ready(loaded) => {
                at_once += 1;
                assert_eq!(loaded.unwrap().found.unwrap().fields[0].changes.len(), steps);
            }
            Poll::Pending => {}
        }
    }
    // Not while the writing thread has the connection.
    assert!(at_once > 50, "{at_once}");
}

#[tokio::test(flavor = "current_thread")]
async fn reads_let_other_tasks_run() {
    let file = File::new();
    let store = open(&file);
    let fence = writer(&store, "t").fence;
    store.commit(next(fence).batch("t", fence).1).await.unwrap();
    let other = tokio::spawn(async {});
    while !other.is_finished() {
        store.get("t", "", None).await.unwrap();
    }
}

#[test]
fn read_sees_a_dropped_write() {
    let file = File::new();
    let store = open(&file);
    add(&store, 20);
    let mut fence = writer(&store, "t").fence;
    for round in 0..100 {
        let (id, batch) = next(fence).batch("t", fence);
        let _ = poll_once(&mut store.commit(batch));
        fence.head = Some(id);
        let loaded = wait(store.get("t", "", None)).unwrap();
        assert_eq!(loaded.fence.head, Some(id), "round {round}");
    }
}

#[test]
fn closed_store_reads_nothing() {
    let file = File::new();
    let store = open(&file);
    add(&store, 20);
    let mut closing = Box::pin(store.close());
    let _ = poll_once(&mut closing);
    let read = wait(store.get("t", "", None));
    assert!(matches!(read, Err(CheckpointError::Backend { .. })), "{read:?}");
}
