//! Writing: one thread, which commits all waiting writes in one transaction.

use std::thread;

use rusqlite::Connection;
use superstep_store::checkpoint::CheckpointError;

use crate::queue::Queue;

mod batch_buffer;
mod branches;
mod changes;
mod check;
mod commit;
mod copy;
mod delete;
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
}

/// Starts the writing thread. It ends when the queue is closed and every write in it is done.
pub(crate) fn spawn(db: Connection, writes: &WriteQueue) -> Result<(), CheckpointError> {
    let writes = writes.queue();
    let mut session = Session { db, row_cache: RowCache::default() };
    let run = move || {
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
    };
    thread::Builder::new()
        .name("graph-sqlite-write".to_owned())
        .spawn(run)
        .map(drop)
        .map_err(|error| CheckpointError::backend("start a thread", error))
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
        if let Err(error) = self.begin() {
            for mut write in group {
                write.fail(&error);
                write.reply();
            }
            return;
        }
        let all_commit = group.iter_mut().all(|write| write.run(self) != Vote::RollBack);
        let ended = if all_commit { self.end("COMMIT") } else { Ok(()) };
        if all_commit && ended.is_ok() {
            for write in group {
                if write.has_more() {
                    writes.push(write);
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
            if let Err(error) = &ended {
                alone.fail(error);
            }
            group.into_iter().for_each(Write::reply);
        } else {
            // One write failed: run each on its own, so that the others succeed.
            for write in group {
                self.run_in_one_transaction(vec![write], writes);
            }
        }
    }

    fn begin(&mut self) -> rusqlite::Result<()> {
        self.db.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        // No other connection can write until the transaction ends, so the cached rows stay valid.
        let version = self.db.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0));
        match version {
            Ok(version) => {
                self.row_cache.revalidate(version);
                Ok(())
            }
            Err(error) => {
                drop(self.end("ROLLBACK"));
                Err(error)
            }
        }
    }

    fn end(&self, how: &str) -> rusqlite::Result<()> {
        self.db.prepare_cached(how)?.execute([]).map(drop)
    }
}
