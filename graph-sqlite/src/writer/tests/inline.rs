use std::time::{Duration, Instant};

use superstep_store::checkpoint::{BatchWrite, CheckpointError, Fence, WriteBatch};
use superstep_store::payload::Payload;

use crate::options::{SqliteOptions, Synchronous};
use crate::reader;

use super::super::inline::NEW;
use super::super::{Session, WriteQueue};
use super::{batch, checkpoints, head, session, session_with, together};

/// Commits a batch on this thread if that is possible, and otherwise as the writing thread does. Returns `true` in the
/// first case.
fn inline(session: &mut Session, batch: &WriteBatch) -> bool {
    match session.commit_inline(batch) {
        Some(done) => {
            done.unwrap();
            true
        }
        None => {
            together(session, std::slice::from_ref(batch))[0].as_ref().unwrap();
            false
        }
    }
}

/// Adds checkpoints with a field of this size. Returns the number of inline commits.
fn add(session: &mut Session, count: usize, bytes: usize) -> usize {
    let mut is_inline = |_: &usize| {
        let next = batch("a", head(session, "a"), bytes);
        inline(session, &next)
    };
    (0..count).filter(|number| is_inline(number)).count()
}

fn normal() -> SqliteOptions {
    SqliteOptions::new().synchronous(Synchronous::Normal)
}

#[test]
fn inline_commits_are_small_and_prepared() {
    let (_folder, mut session) = session_with(normal());
    assert_eq!(add(&mut session, 1, 10), 0, "nothing is known of the thread and the log");
    assert_eq!(add(&mut session, 20, 10), 20);
    assert_eq!(add(&mut session, 1, 20_000), 0, "too large");
    // The commit before may have moved the log, so the next one is not inline either.
    assert_eq!(add(&mut session, 3, 10), 2);
    assert_eq!(add(&mut session, 64, 10), 62, "one of them compacts rows");
    let (several, _) = checkpoints("b", 3, &[]);
    assert!(!inline(&mut session, &several), "unknown namespace");
    let loaded = reader::get(&session.db, "a", "", None).unwrap();
    let mut fork = batch("a", loaded.fence, 10);
    for write in &mut fork.writes {
        let BatchWrite::Checkpoint(new) = write else { panic!("a checkpoint") };
        new.checkpoint.parent = None;
    }
    assert!(!inline(&mut session, &fork), "a fork");
    assert!(add(&mut session, 3, 10) > 0);
}

#[test]
fn full_synchronous_commits_are_never_inline() {
    let (_folder, mut session) = session();
    assert_eq!(add(&mut session, 300, 10), 0);
}

#[test]
fn inline_commits_never_start_the_log_anew() {
    let (folder, mut session) = session_with(normal());
    let log = folder.path().join("threads.db-wal");
    // SQLite waits for the disk when it moves the log into the file, and when it then writes a new header.
    let main = || std::fs::metadata(folder.path().join("threads.db")).unwrap().modified().unwrap();
    let header =
        || std::fs::read(&log).map(|log| log.get(..32).unwrap_or_default().to_owned()).unwrap_or_default();
    let (mut new_headers, mut inlines) = (0, 0);
    for _ in 0..2_000 {
        let before = (header(), main());
        let is_inline = add(&mut session, 1, 2_000) == 1;
        let after = (header(), main());
        assert!(!is_inline || after == before);
        new_headers += usize::from(after.0 != before.0);
        inlines += usize::from(is_inline);
    }
    assert!(inlines > 1_600, "{inlines}");
    assert!(new_headers > 3, "{new_headers}");
    let length = std::fs::metadata(&log).unwrap().len();
    assert!(length < 12_000_000, "{length}");
}

#[test]
fn inline_commits_give_way_to_other_writers() {
    let (folder, mut session) = session_with(normal());
    assert!(add(&mut session, 20, 10) > 0);
    let other = rusqlite::Connection::open(folder.path().join("threads.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let next = batch("a", head(&session, "a"), 10);
    assert!(session.commit_inline(&next).is_none(), "locked");
    other.execute_batch("UPDATE thread SET epoch = 7; COMMIT").unwrap();
    assert!(session.commit_inline(&next).is_none(), "the cached rows are outdated");
    let refused = together(&mut session, &[next]);
    assert!(matches!(refused[0], Err(CheckpointError::Conflict(_))), "{refused:?}");
    // The other connection may move the log at any time.
    assert_eq!(add(&mut session, 60, 10), 0);
    assert!(add(&mut session, 40, 10) > 0);
    let refused = session.commit_inline(&WriteBatch::new("a", "o", Fence::default()));
    assert!(matches!(refused, Some(Err(CheckpointError::Conflict(_)))), "{refused:?}");
    assert!(add(&mut session, 1, 10) == 1);
}

#[test]
fn new_head_is_read_inline() {
    let (folder, mut session) = session();
    assert!(session.read_inline("a", "", None).is_none(), "unknown thread");
    add(&mut session, 3, 10);
    let first = head(&session, "a").head;
    add(&mut session, 1, 10);
    let expected = reader::get(&session.db, "a", "", None).unwrap();
    assert_eq!(session.read_inline("a", "", None).unwrap(), expected);
    assert_eq!(session.read_inline("a", "", expected.fence.head).unwrap(), expected);
    assert!(session.read_inline("a", "", first).is_none(), "not the head");
    assert!(session.read_inline("a", "b", None).is_none(), "unknown namespace");

    let other = rusqlite::Connection::open(folder.path().join("threads.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert!(session.read_inline("a", "", None).is_some(), "a writer does not lock readers out");
    other.execute_batch("UPDATE thread SET epoch = 7; COMMIT").unwrap();
    assert!(session.read_inline("a", "", None).is_none(), "another program has written");
}

/// Returns `true` if a read is inline.
fn reads(session: &mut Session) -> bool {
    session.read_inline("a", "", None).is_some()
}

#[test]
fn large_heads_are_never_read_inline() {
    let (_folder, mut session) = session();
    add(&mut session, 2, 10);
    assert!(reads(&mut session));
    add(&mut session, 2, 2_000_000);
    assert!(!reads(&mut session), "it has grown");
    session.row_cache.clear();
    add(&mut session, 1, 10);
    assert!(!reads(&mut session), "it is still large");
    assert!(session.db.is_autocommit());

    // The plan and the number of changes count too.
    let (_folder, mut session) = session_with(normal());
    let mut planned = batch("a", Fence::default(), 10);
    let Some(BatchWrite::Checkpoint(new)) = planned.writes.first_mut() else { panic!("a checkpoint") };
    new.checkpoint.progress = Some(Payload::json("x".repeat(2_000_000)));
    inline(&mut session, &planned);
    assert!(!reads(&mut session));
    let (_folder, mut session) = session_with(normal());
    add(&mut session, 10_000, 1);
    assert!(!reads(&mut session));
}

#[test]
fn head_that_is_not_new_is_not_read_inline() {
    let (_folder, mut session) = session();
    add(&mut session, 2, 10);
    assert!(reads(&mut session));
    session.row_cache.namespace("a", "").unwrap().written = Instant::now().checked_sub(NEW);
    assert!(!reads(&mut session));
    add(&mut session, 1, 10);
    assert!(reads(&mut session));
}

#[test]
fn failed_inline_read_leaves_no_transaction_and_keeps_cached_rows() {
    let (_folder, mut session) = session();
    add(&mut session, 3, 10);
    together(&mut session, &[batch("b", Fence::default(), 10)])[0].as_ref().unwrap();
    session.db.execute_batch("UPDATE piece SET before = 99 WHERE line = 1").unwrap();
    assert!(!reads(&mut session));
    assert!(session.db.is_autocommit());
    assert!(session.row_cache.namespace("b", "").is_some());
}

#[test]
fn panic_on_a_callers_thread_keeps_the_busy_timeout() {
    let (_folder, session) = session();
    let shared = WriteQueue::new().session();
    shared.put(session);
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        shared.try_with(|session| -> Option<()> {
            session.db.busy_timeout(Duration::ZERO).unwrap();
            session.db.execute_batch("BEGIN; SELECT 1 FROM thread").unwrap();
            panic!("a bug");
        })
    }));
    assert!(panicked.is_err());
    let timeout: Option<i64> = shared.with(|session| {
        assert!(session.db.is_autocommit());
        session.db.query_row("PRAGMA busy_timeout", [], |row| row.get(0)).unwrap()
    });
    assert_eq!(timeout, Some(20));
}
