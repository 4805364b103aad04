//! Commits and reads on the thread of their caller.
//!
//! To hand a commit to the writing thread and to be woken by it takes longer than a small commit does. So a commit runs on
//! its caller's thread if it waits neither for the disk nor for another writer:
//!
//! - With `Synchronous::Normal`, SQLite waits for the disk when it moves the write-ahead log into the main file, and at the
//!   first write to a log that was moved completely. [`InlineCalls`] leaves both to the writing thread.
//! - A commit that finds a lock, or the write of another process, is submitted to the writing thread.
//!
//! One case remains. A process that has written nothing for a while may move the log, for example when it closes the file.
//! Then the next commit starts the log anew and waits once, even on its caller's thread: SQLite offers no way to notice it.
//!
//! A small head that was written less than ten seconds ago is read on its caller's thread too. Its rows are in the memory of
//! SQLite or of the operating system, unless that has needed the memory for something else.

use std::time::Duration;

use superstep_store::checkpoint::{
    BatchWrite, CheckpointError, CheckpointId, FieldChange, Loaded, TaskRecord, WriteBatch,
};

use crate::error::Error;
use crate::options::{SqliteOptions, Synchronous};
use crate::reader::{Room, get_within, in_transaction};

use super::row_cache::data_version;
use super::{Session, commit};

/// The number of commits on their callers' threads after which the writing thread checks the length of the log.
const MAX_COMMITS: u32 = 128;

/// The number of transactions of the writing thread after which another writer is no longer expected.
const QUIET_TRANSACTIONS: u32 = 64;

/// Larger batches take longer than a caller's thread should be busy.
const MAX_WRITES: usize = 8;
const MAX_BYTES: usize = 16 * 1024;

/// A head with more bytes is read by a reader thread.
const MAX_READ: i64 = 512 * 1024;

/// The time for which a written head is new.
pub(super) const NEW: Duration = Duration::from_secs(10);

/// The transactions and reads that may run on their callers' threads.
#[derive(Debug)]
pub(crate) struct InlineCalls {
    enabled: bool,
    busy_timeout: Duration,
    /// The number of commits until the writing thread has to check the length of the log.
    left: u32,
    /// `true` if all of the log may have been moved, so that the next write waits for the disk.
    may_be_moved: bool,
    /// `true` if a commit moves the log once it is long enough.
    moves_log: bool,
    /// The number of transactions of the writing thread until another writer is no longer expected. Its connection may
    /// move the log at any time.
    until_quiet: u32,
}

impl InlineCalls {
    pub(crate) fn new(options: &SqliteOptions) -> Self {
        Self {
            enabled: options.synchronous == Synchronous::Normal,
            busy_timeout: options.busy_timeout,
            left: 0,
            may_be_moved: true,
            moves_log: true,
            until_quiet: 0,
        }
    }

    /// Notes that another connection has written to the file.
    pub(super) fn note_other_writer(&mut self) {
        self.until_quiet = QUIET_TRANSACTIONS;
    }

    fn are_possible(&self) -> bool {
        self.enabled && self.left > 0 && !self.may_be_moved && self.until_quiet == 0
    }
}

impl Session {
    /// Commits a batch without waiting. Returns `None` if that is impossible; then nothing was written.
    pub(super) fn commit_inline(&mut self, batch: &WriteBatch) -> Option<Result<(), CheckpointError>> {
        if !self.inline.are_possible() || !is_small(batch) || !self.row_cache.is_prepared_for(batch) {
            return None;
        }
        self.move_log_in_commits(false).ok()?;
        self.db.busy_timeout(Duration::ZERO).ok()?;
        let done = self.commit_at_once(batch);
        self.restore_busy_timeout();
        done
    }

    /// Reads the head of a namespace without waiting. Returns `None` if that is impossible, or if the read failed.
    pub(super) fn read_inline(
        &mut self,
        thread: &str,
        namespace: &str,
        checkpoint: Option<CheckpointId>,
    ) -> Option<Loaded> {
        let cached = self.row_cache.namespace(thread, namespace)?;
        let is_head = |id: CheckpointId| cached.head.is_some_and(|(head, _)| head == id);
        let is_new = cached.written.is_some_and(|written| written.elapsed() < NEW);
        if !is_new || cached.is_large || !checkpoint.is_none_or(is_head) {
            return None;
        }
        self.db.busy_timeout(Duration::ZERO).ok()?;
        let read = in_transaction(&self.db, |db| {
            // A file without other writers has kept its format too.
            if self.row_cache.is_outdated(data_version(db)?) {
                return Ok(None);
            }
            get_within(db, thread, namespace, checkpoint, &mut Room::new(MAX_READ)).map(Some)
        });
        self.restore_busy_timeout();
        if read.is_err() && !self.db.is_autocommit() {
            self.roll_back();
        }
        if matches!(read, Err(Error::NoRoom))
            && let Some(cached) = self.row_cache.namespace(thread, namespace)
        {
            cached.is_large = true;
        }
        read.ok().flatten()
    }

    pub(super) fn restore_busy_timeout(&mut self) {
        if self.db.busy_timeout(self.inline.busy_timeout).is_err() {
            // Later commits run on the writing thread. They fail when they find a lock instead of waiting for it.
            self.inline.enabled = false;
        }
    }

    fn commit_at_once(&mut self, batch: &WriteBatch) -> Option<Result<(), CheckpointError>> {
        self.begin().ok()?;
        if !self.inline.are_possible() {
            // The cached rows were outdated.
            self.roll_back();
            return None;
        }
        match commit(self, batch) {
            Ok(()) if self.end("COMMIT").is_ok() => {
                self.inline.left -= 1;
                Some(Ok(()))
            }
            Err(Error::Refused(error)) => {
                // Nothing was written, so the cached rows stay valid.
                drop(self.end("ROLLBACK"));
                Some(Err(error))
            }
            // The writing thread tries again and reports the error.
            Ok(()) | Err(_) => {
                self.roll_back();
                None
            }
        }
    }

    /// Prepares a transaction of the writing thread. Returns a value for [`end_turn`](Self::end_turn).
    pub(super) fn begin_turn(&mut self) -> rusqlite::Result<u64> {
        if self.inline.enabled {
            // After a transaction that may have moved the log comes one that certainly does not. It starts the log from
            // its beginning.
            self.move_log_in_commits(!self.inline.may_be_moved)?;
        }
        Ok(self.db.total_changes())
    }

    /// Notes the end of a transaction of the writing thread.
    pub(super) fn end_turn(&mut self, changes_before: u64) {
        self.inline.until_quiet = self.inline.until_quiet.saturating_sub(1);
        if self.inline.moves_log {
            self.inline.may_be_moved = true;
        } else if self.db.total_changes() != changes_before {
            self.inline.may_be_moved = false;
            self.inline.left = MAX_COMMITS;
        }
    }

    fn move_log_in_commits(&mut self, moves: bool) -> rusqlite::Result<()> {
        if self.inline.moves_log != moves {
            // In pages, as in SQLite's default.
            let pragma =
                if moves { "PRAGMA wal_autocheckpoint = 1000" } else { "PRAGMA wal_autocheckpoint = 0" };
            self.db.prepare_cached(pragma)?.query_row([], |_| Ok(()))?;
            self.inline.moves_log = moves;
        }
        Ok(())
    }
}

/// Returns `true` if a batch takes little time to write.
fn is_small(batch: &WriteBatch) -> bool {
    let of_changes = |changes: &[FieldChange]| changes.iter().map(|change| change.payload.len()).sum();
    let of_records = |records: &[TaskRecord]| records.iter().map(|record| record.payload.len()).sum();
    let bytes = |write: &BatchWrite| -> usize {
        match write {
            BatchWrite::Checkpoint(new) => {
                let progress = new.checkpoint.progress.as_ref().map_or(0, |progress| progress.len());
                let (changes, records): (usize, usize) = (of_changes(&new.changes), of_records(&new.records));
                progress + changes + records
            }
            BatchWrite::Records { put, .. } => of_records(put),
            BatchWrite::RollBack { .. } => 0,
        }
    };
    batch.writes.len() <= MAX_WRITES && batch.writes.iter().map(bytes).sum::<usize>() <= MAX_BYTES
}
