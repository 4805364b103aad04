//! Writing: one thread, which makes one transaction of everything that waits for it.

use std::thread;

use rusqlite::Connection;
use superstep_store::checkpoint::CheckpointError;

use crate::queue::Queue;

mod call;
mod check;
mod commit;
mod copy;
mod delete;
mod filling;
mod handing;
mod known;
mod lines;
mod pieces;
mod prune;
mod records;
mod sweep;
#[cfg(test)]
mod tests;

pub(crate) use call::{Turn, Work};
pub(crate) use commit::commit;
pub(crate) use copy::copy;
pub(crate) use delete::delete;
pub(crate) use handing::Writes;
pub(crate) use prune::Pruning;

use call::Course;
use known::Known;

/// A write that waits for the thread.
pub(crate) type Write = Box<dyn Work>;

/// How many writes share a transaction at most: so long does the first of them wait for the last.
const GROUP: usize = 256;

/// What every superstep needs.
const OFTEN: [&str; 5] = ["BEGIN IMMEDIATE", "PRAGMA data_version", "COMMIT", commit::INSERT, pieces::INSERT];

/// What the writing thread has.
pub(crate) struct Session {
    pub(crate) db: Connection,
    known: Known,
}

/// Lets a connection's thread write until the queue is closed and everything in it is done.
pub(crate) fn spawn(db: Connection, writes: &Writes) -> Result<(), CheckpointError> {
    let writes = writes.queue();
    let mut session = Session { db, known: Known::default() };
    let run = move || {
        // While there is nothing to write yet. What cannot be prepared now fails when it is used, with somebody to tell.
        for often in OFTEN {
            drop(session.db.prepare_cached(often));
        }
        loop {
            let taken = writes.take(GROUP);
            if taken.is_empty() {
                break;
            }
            session.group(taken, &writes);
        }
    };
    thread::Builder::new()
        .name("graph-sqlite-write".to_owned())
        .spawn(run)
        .map(drop)
        .map_err(|error| CheckpointError::backend("start a thread", error))
}

impl Session {
    /// Does these writes in their order; a long one has a transaction of its own.
    fn group(&mut self, taken: Vec<Write>, writes: &Queue<Write>) {
        let mut together = Vec::with_capacity(taken.len());
        for write in taken {
            if write.is_long() {
                self.together(std::mem::take(&mut together), writes);
                self.together(vec![write], writes);
            } else {
                together.push(write);
            }
        }
        self.together(together, writes);
    }

    fn together(&mut self, mut group: Vec<Write>, writes: &Queue<Write>) {
        if group.is_empty() {
            return;
        }
        if let Err(error) = self.begin() {
            for mut write in group {
                write.fail(&error);
                write.answer();
            }
            return;
        }
        let went_through = group.iter_mut().all(|write| write.run(self) != Course::Broken);
        let ended = if went_through { self.end("COMMIT") } else { Ok(()) };
        if went_through && ended.is_ok() {
            for write in group {
                if write.goes_on() {
                    writes.push(write);
                } else {
                    write.answer();
                }
            }
            return;
        }
        self.known.forget();
        // A full disk, for one, has rolled back already.
        if !self.db.is_autocommit() {
            // What fails here fails again at the next `BEGIN`, with somebody to tell.
            drop(self.end("ROLLBACK"));
        }
        if let [alone] = group.as_mut_slice() {
            if let Err(error) = &ended {
                alone.fail(error);
            }
            group.into_iter().for_each(Work::answer);
        } else {
            // One of them cannot be done; the others need not suffer for it.
            for write in group {
                self.together(vec![write], writes);
            }
        }
    }

    fn begin(&mut self) -> rusqlite::Result<()> {
        self.db.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        // From here on nobody else writes: what is known stays true.
        let version = self.db.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0));
        match version {
            Ok(version) => {
                self.known.as_of(version);
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
