//! Reading: a few threads with one connection each.

use std::sync::Arc;
use std::thread;

use rusqlite::Connection;
use superstep_store::checkpoint::CheckpointError;
use tokio::sync::oneshot;

use crate::error::{Error, Operation};
use crate::queue::Queue;

mod changes;
mod get;
mod list;
mod runs;
mod threads;

pub(crate) use changes::{ChangeRow, ancestry, change_row, changes};
pub(crate) use get::{get, head};
pub(crate) use list::list;
pub(crate) use threads::threads;

/// A read that waits for a reader thread.
pub(crate) type Read = Box<dyn FnOnce(&Connection) + Send>;

/// Starts a reader thread on this connection. It ends when the queue is closed and empty.
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

/// Runs a query on a reader thread, in one transaction, so that it sees one state of the file.
pub(crate) async fn read<T: Send + 'static>(
    reads: &Queue<Read>,
    operation: Operation,
    query: impl FnOnce(&Connection) -> Result<T, Error> + Send + 'static,
) -> Result<T, CheckpointError> {
    let (reply, received) = oneshot::channel();
    let name = operation.name;
    let ticket = reads.push(Box::new(move |db| {
        let found = in_snapshot(db, query).map_err(|error| error.into_error(&operation));
        // The caller may have dropped its future.
        drop(reply.send(found));
    }));
    let waiting = AbandonReadOnDrop { reads, ticket };
    let found = received
        .await
        .map_err(|_| CheckpointError::backend(name, "its reader thread has stopped: open the file again"))?;
    drop(waiting);
    found
}

/// Removes the read from the queue when its future is dropped.
struct AbandonReadOnDrop<'q> {
    reads: &'q Queue<Read>,
    ticket: u64,
}

impl Drop for AbandonReadOnDrop<'_> {
    fn drop(&mut self) {
        self.reads.abandon(self.ticket);
    }
}

fn in_snapshot<T>(db: &Connection, query: impl FnOnce(&Connection) -> Result<T, Error>) -> Result<T, Error> {
    db.prepare_cached("BEGIN")?.execute([])?;
    let found = query(db);
    // Some errors end the transaction. A transaction that only reads can always be rolled back.
    if !db.is_autocommit() {
        db.prepare_cached("ROLLBACK")?.execute([])?;
    }
    found
}
