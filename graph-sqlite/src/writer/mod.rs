//! Writing: one thread, which commits all waiting writes in one transaction, and small commits on their callers' threads.

use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;
use superstep_store::checkpoint::CheckpointError;

use crate::error::Error;
use crate::file_identity::FileIdentity;
use crate::open_threads::{OpenThread, OpenThreads};
use crate::options::SqliteOptions;
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
mod inline;
mod prune;
mod records;
mod retained;
mod roll_back;
mod row_cache;
mod shared_session;
#[cfg(test)]
mod tests;
mod write;
mod write_queue;

pub(crate) use commit::commit;
pub(crate) use copy::copy;
pub(crate) use delete::delete;
pub(crate) use prune::Pruning;
pub(crate) use row_cache::rolls_back;
pub(crate) use write::{Write, WriteStatus};
pub(crate) use write_queue::WriteQueue;

use shared_session::SharedSession;

use failure::Failure;
use inline::InlineCalls;
use row_cache::{RowCache, data_version};
use write::Vote;

pub(crate) type BoxedWrite = Box<dyn Write>;

/// The maximum number of writes in one transaction. The first of them waits until the last is done.
const MAX_GROUP: usize = 256;

/// The statements of every superstep.
const FREQUENT_STATEMENTS: [&str; 5] =
    ["BEGIN IMMEDIATE", "PRAGMA data_version", "COMMIT", commit::INSERT_CHECKPOINT, changes::INSERT_CHANGES];

/// The connection that writes, and what it knows of the file.
pub(crate) struct Session {
    pub(crate) db: Connection,
    row_cache: RowCache,
    file: FileIdentity,
    inline: InlineCalls,
}

/// Starts the writing thread. It ends when the queue is closed and every write in it is done.
pub(crate) fn spawn(
    db: Connection,
    path: &Path,
    options: &SqliteOptions,
    writes: &WriteQueue,
    threads: &Arc<OpenThreads>,
) -> Result<(), CheckpointError> {
    let session = Session::new(db, path, options);
    // Prepares while there is nothing to write yet. An error is ignored here: the statement's first use reports it to a
    // caller.
    for statement in FREQUENT_STATEMENTS {
        drop(session.db.prepare_cached(statement));
    }
    let (queue, shared) = (writes.queue(), writes.session());
    shared.put(session);
    threads.spawn("graph-sqlite-write", move |open| {
        // The connection is dropped before `open`, also after a panic.
        let (open, shared) = (open, TakeOnDrop(shared));
        while queue.wait() {
            let done = shared.0.with(|session| session.run_all(queue.take(MAX_GROUP), &queue));
            // Not earlier: a caller that is awake may want the session.
            done.into_iter().flatten().for_each(Write::reply);
        }
        if let Some(session) = shared.0.take() {
            session.close(&open);
        }
    })
}

/// Drops the session when the writing thread ends.
struct TakeOnDrop(Arc<SharedSession>);

impl Drop for TakeOnDrop {
    fn drop(&mut self) {
        drop(self.0.take());
    }
}

impl Session {
    fn new(db: Connection, path: &Path, options: &SqliteOptions) -> Self {
        let inline = InlineCalls::new(options);
        Self { db, row_cache: RowCache::default(), file: FileIdentity::of(path), inline }
    }

    /// Runs these writes in order. A long write gets its own transaction. Returns writes that are done.
    fn run_all(&mut self, taken: Vec<BoxedWrite>, writes: &Queue<BoxedWrite>) -> Vec<BoxedWrite> {
        let mut transactions: Vec<Vec<BoxedWrite>> = vec![Vec::with_capacity(taken.len())];
        for write in taken {
            let is_long = write.is_long();
            match transactions.last_mut() {
                Some(last) if !is_long => last.push(write),
                _ => transactions.extend([vec![write], Vec::new()]),
            }
        }
        let mut done = Vec::new();
        for transaction in transactions.into_iter().filter(|transaction| !transaction.is_empty()) {
            // Short writes do not wait for a long one after them.
            done.drain(..).for_each(Write::reply);
            self.run_in_one_transaction(transaction, writes, &mut done);
        }
        done
    }

    fn run_in_one_transaction(
        &mut self,
        mut group: Vec<BoxedWrite>,
        writes: &Queue<BoxedWrite>,
        done: &mut Vec<BoxedWrite>,
    ) {
        let begun = self.begin_turn().map_err(Failure::from);
        let changes = match begun.and_then(|changes| self.begin().map(|()| changes)) {
            Ok(changes) => changes,
            Err(failure) => {
                group.iter_mut().for_each(|write| write.fail(&failure));
                done.append(&mut group);
                return;
            }
        };
        let all_commit = group.iter_mut().all(|write| write.run(self) != Vote::RollBack);
        let ended = if all_commit { self.end("COMMIT") } else { Ok(()) };
        if all_commit && ended.is_ok() {
            self.end_turn(changes);
            for write in group {
                if !write.has_more() {
                    done.push(write);
                } else if !(writes.is_closed() && write.is_abandoned()) {
                    // A closing file does not finish a long write whose caller is gone.
                    writes.push_again(write);
                }
            }
            return;
        }
        self.roll_back();
        if let [alone] = group.as_mut_slice() {
            if let Err(error) = ended {
                alone.fail(&error.into());
            }
            done.append(&mut group);
        } else {
            // One write failed: run each on its own, so that the others succeed.
            for write in group {
                self.run_in_one_transaction(vec![write], writes, done);
            }
        }
    }

    /// Ends a transaction without its writes.
    fn roll_back(&mut self) {
        self.row_cache.clear();
        // SQLite has rolled back already after some errors, for example a full disk.
        if !self.db.is_autocommit() {
            // If this fails, the next `BEGIN` fails too and reports the error to a caller.
            drop(self.end("ROLLBACK"));
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
        let version = data_version(&self.db)?;
        if self.row_cache.is_outdated(version) {
            if self.row_cache.is_in_use() {
                self.inline.note_other_writer();
            }
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
