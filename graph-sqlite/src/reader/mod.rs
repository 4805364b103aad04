//! Reading: a few threads with a connection each.

use std::sync::Arc;
use std::thread;

use rusqlite::Connection;
use superstep_store::checkpoint::CheckpointError;
use tokio::sync::oneshot;

use crate::queue::Queue;
use crate::trouble::{About, Trouble};

mod get;
mod lineage;
mod list;
mod runs;
mod threads;

pub(crate) use get::{get, head};
pub(crate) use lineage::{Row, ancestry, pieces, row};
pub(crate) use list::list;
pub(crate) use threads::threads;

/// A read that waits for a thread.
pub(crate) type Read = Box<dyn FnOnce(&Connection) + Send>;

/// Lets a connection's thread read until the queue is closed.
pub(crate) fn spawn(db: Connection, reads: Arc<Queue<Read>>) -> Result<(), CheckpointError> {
    let run = move || {
        while let Some(read) = reads.take(1).pop() {
            read(&db);
        }
    };
    thread::Builder::new()
        .name("graph-sqlite-read".to_owned())
        .spawn(run)
        .map(drop)
        .map_err(|error| CheckpointError::backend("start a thread", error))
}

/// Reads something in one transaction, hence as of one moment, on one of the threads.
pub(crate) async fn read<T: Send + 'static>(
    reads: &Queue<Read>,
    about: About,
    query: impl FnOnce(&Connection) -> Result<T, Trouble> + Send + 'static,
) -> Result<T, CheckpointError> {
    let (answer, answered) = oneshot::channel();
    let what = about.what;
    let ticket = reads.push(Box::new(move |db| {
        let found = at_one_moment(db, query).map_err(|trouble| trouble.into_error(&about));
        // Whoever asked may be gone.
        drop(answer.send(found));
    }));
    let waiting = Waiting { reads, ticket };
    let found = answered.await.map_err(|_| CheckpointError::backend(what, "its thread has ended"))?;
    drop(waiting);
    found
}

/// Takes the read out of the queue when its future is dropped.
struct Waiting<'q> {
    reads: &'q Queue<Read>,
    ticket: u64,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.reads.abandon(self.ticket);
    }
}

fn at_one_moment<T>(
    db: &Connection,
    query: impl FnOnce(&Connection) -> Result<T, Trouble>,
) -> Result<T, Trouble> {
    db.prepare_cached("BEGIN")?.execute([])?;
    let found = query(db);
    // Some failures have ended it already. A transaction that has only read leaves nothing undone.
    if !db.is_autocommit() {
        db.prepare_cached("ROLLBACK")?.execute([])?;
    }
    found
}
