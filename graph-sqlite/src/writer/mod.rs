//! Writing: one thread, which commits all waiting writes in one transaction.

use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;
use superstep_store::checkpoint::CheckpointError;

use crate::error::Error;
use crate::file_identity::FileIdentity;
use crate::open_threads::{OpenThread, OpenThreads};
use crate::queue::Queue;
use crate::schema;

mod batch_buffer;
mod branches;
mod changes;
mod check;
mod commit;
mod copy;
mod delete;
mod failure;
mod garbage;
mod prune;
mod records;
mod retained;
mod row_cache;
#[cfg(test)]
mod tests;
mod write;
mod write_queue;

pub(crate) use commit::commit;
pub(crate) use copy::copy;
pub(crate) use delete::delete;
pub(crate) use prune::Pruning;
pub(crate) use write::{Write, WriteStatus};
pub(crate) use write_queue::WriteQueue;

use failure::Failure;
use row_cache::RowCache;
use write::Vote;

pub(crate) type BoxedWrite = Box<dyn Write>;

/// The maximum number of writes in one transaction. The first of them waits until the last is done.
const MAX_GROUP: usize = 256;

/// The statements of every superstep.
const FREQUENT_STATEMENTS: [&str; 5] =
    ["BEGIN IMMEDIATE", "PRAGMA data_version", "COMMIT", commit::INSERT_CHECKPOINT, changes::INSERT_CHANGES];

/// The state of the writing thread.
pub(crate) struct Session {
    pub(crate) db: Connection,
    row_cache: RowCache,
    file: FileIdentity,
}

/// Starts the writing thread. It ends when the queue is closed and every write in it is done.
pub(crate) fn spawn(
    db: Connection,
    path: &Path,
    writes: &WriteQueue,
    threads: &Arc<OpenThreads>,
) -> Result<(), CheckpointError> {
    let writes = writes.queue();
    let session = Session { db, row_cache: RowCache::default(), file: FileIdentity::of(path) };
    threads.spawn("graph-sqlite-write", move |open| {
        // The connection is dropped before `open`, also after a panic.
        let (open, mut session) = (open, session);
        // Prepares while there is nothing to write yet. An error is ignored here: the statement's first use reports it
        // to a caller.
        for statement in FREQUENT_STATEMENTS {
            drop(session.db.prepare_cached(statement));
        }
        loop {
            let taken = writes.take(MAX_GROUP);
            if taken.is_empty() {
                break;
            }
            session.run_all(taken, &writes);
        }
        session.close(&open);
    })
}

impl Session {
    /// Runs these writes in order. A long write gets its own transaction.
    fn run_all(&mut self, taken: Vec<BoxedWrite>, writes: &Queue<BoxedWrite>) {
        let mut short = Vec::with_capacity(taken.len());
        for write in taken {
            if write.is_long() {
                self.run_in_one_transaction(std::mem::take(&mut short), writes);
                self.run_in_one_transaction(vec![write], writes);
            } else {
                short.push(write);
            }
        }
        self.run_in_one_transaction(short, writes);
    }

    fn run_in_one_transaction(&mut self, mut group: Vec<BoxedWrite>, writes: &Queue<BoxedWrite>) {
        if group.is_empty() {
            return;
        }
        if let Err(failure) = self.begin() {
            for mut write in group {
                write.fail(&failure);
                write.reply();
            }
            return;
        }
        let all_commit = group.iter_mut().all(|write| write.run(self) != Vote::RollBack);
        let ended = if all_commit { self.end("COMMIT") } else { Ok(()) };
        if all_commit && ended.is_ok() {
            for write in group {
                if write.has_more() {
                    // A closing file does not finish a long write whose caller is gone.
                    if !(writes.is_closed() && write.is_abandoned()) {
                        writes.push_again(write);
                    }
                } else {
                    write.reply();
                }
            }
            return;
        }
        self.row_cache.clear();
        // SQLite has rolled back already after some errors, for example a full disk.
        if !self.db.is_autocommit() {
            // If this fails, the next `BEGIN` fails too and reports the error to a caller.
            drop(self.end("ROLLBACK"));
        }
        if let [alone] = group.as_mut_slice() {
            if let Err(error) = ended {
                alone.fail(&error.into());
            }
            group.into_iter().for_each(Write::reply);
        } else {
            // One write failed: run each on its own, so that the others succeed.
            for write in group {
                self.run_in_one_transaction(vec![write], writes);
            }
        }
    }

    fn begin(&mut self) -> Result<(), Failure> {
        self.db.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        // No other connection can write until the transaction ends, so the cached rows stay valid.
        let begun = self.revalidate();
        if begun.is_err() {
            drop(self.end("ROLLBACK"));
        }
        Ok(begun?)
    }

    /// Checks that the file is the one that was opened, and that the cached rows are those in the file.
    fn revalidate(&mut self) -> Result<(), Error> {
        self.file.check()?;
        let version = self.db.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
        if self.row_cache.is_outdated(version) {
            schema::check_unchanged(&self.db)?;
        }
        self.row_cache.revalidate(version);
        Ok(())
    }

    /// Moves the write-ahead log into the main file and closes the connection.
    fn close(self, open: &OpenThread) {
        // A reader would keep a part of the log.
        open.wait_for_others();
        // With `Synchronous::Normal`, this makes the last writes survive a power cut.
        let moved = self.db.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
        let closed = self.db.close().map_err(|(_, error)| error);
        if let Err(error) = moved.and(closed) {
            open.fail(&error);
        }
    }

    fn end(&self, how: &str) -> rusqlite::Result<()> {
        self.db.prepare_cached(how)?.execute([]).map(drop)
    }
}
