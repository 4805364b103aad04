//! Reading: a few threads with one connection each.

use std::sync::Arc;

use rusqlite::Connection;
use superstep_store::checkpoint::CheckpointError;
use tokio::sync::oneshot;

use crate::error::{Error, Operation, closed};
use crate::open_threads::OpenThreads;
use crate::queue::Queue;
use crate::schema;

mod changes;
mod get;
mod history;
mod list;
mod namespaces;
mod room;
mod runs;
mod threads;

pub(crate) use changes::{ChangeRow, ancestry, change_row, changes};
pub(crate) use get::{get, get_within, head};
pub(crate) use history::history;
pub(crate) use list::list;
pub(crate) use namespaces::namespaces;
pub(crate) use room::Room;
pub(crate) use threads::threads;

/// A read that waits for a reader thread.
pub(crate) type Read = Box<dyn FnOnce(&Connection) + Send>;

/// Starts a reader thread on this connection. It ends when the queue is closed and empty.
pub(crate) fn spawn(
    db: Connection,
    reads: Arc<Queue<Read>>,
    threads: &Arc<OpenThreads>,
) -> Result<(), CheckpointError> {
    threads.spawn("graph-sqlite-read", move |open| {
        // The connection is dropped before `_open`, also after a panic.
        let (_open, db) = (open, db);
        while let Some(read) = reads.take(1).pop() {
            read(&db);
        }
    })
}

/// Runs a query on a reader thread, in one transaction, so that it sees one state of the file.
pub(crate) async fn read<T: Send + 'static>(
    reads: &Queue<Read>,
    operation: Operation,
    query: impl FnOnce(&Connection) -> Result<T, Error> + Send + 'static,
) -> Result<T, CheckpointError> {
    let (reply, received) = oneshot::channel();
    let name = operation.name;
    let read: Read = Box::new(move |db| {
        let found = in_snapshot(db, query).map_err(|error| error.into_error(&operation));
        // The caller may have dropped its future.
        drop(reply.send(found));
    });
    let Some(ticket) = reads.push(read) else { return Err(closed(name)) };
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

/// Runs a query in a transaction of its own, so that it sees one state of the file, in the format of this program.
fn in_snapshot<T>(db: &Connection, query: impl FnOnce(&Connection) -> Result<T, Error>) -> Result<T, Error> {
    in_transaction(db, |db| schema::check_unchanged(db).and_then(|()| query(db)))
}

/// Runs a query in a transaction of its own.
pub(crate) fn in_transaction<T>(
    db: &Connection,
    query: impl FnOnce(&Connection) -> Result<T, Error>,
) -> Result<T, Error> {
    db.prepare_cached("BEGIN")?.execute([])?;
    let found = query(db);
    // Some errors end the transaction. A transaction that only reads can always be rolled back.
    if !db.is_autocommit() {
        db.prepare_cached("ROLLBACK")?.execute([])?;
    }
    found
}
