//! Writes to a whole thread: deleting and copying it.

use std::sync::Arc;

use superstep_store::checkpoint::{CheckpointError, CheckpointId, Conflict, Fence};
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};

use crate::columns::Id;
use crate::database::{Connection, Database, query};
use crate::error::Failure;
use crate::schema::FORMAT;
use crate::transaction::{Once, Work};

use super::job::{CopyJob, DeleteJob};

pub(super) async fn delete(database: &Arc<Database>, job: DeleteJob) {
    let DeleteJob { thread, epoch, reply } = job;
    // A deletion that is made twice would delete a thread that another program has created in between.
    let once = Once::new(database.schema());
    let run = |connection: Connection| {
        let (once, database, thread) = (once.clone(), Arc::clone(database), Arc::clone(&thread));
        async move { once.attempt(connection, |client| call_delete(client, database, thread, epoch)).await }
    };
    let done = match database.attempt(run).await {
        Ok((0, _)) => Ok(true),
        Ok((2, _)) => Ok(false),
        Ok((_, found)) => Err(conflict(&thread, epoch, found)),
        Err(failure) => Err(failure.checkpoint("delete a thread")),
    };
    drop(reply.send(done));
}

fn call_delete(
    client: &Client,
    database: Arc<Database>,
    thread: Arc<str>,
    epoch: Option<u64>,
) -> Work<'_, (i16, Fence), Failure> {
    Box::pin(async move {
        let (known, expected) = (known(), epoch.map(u64::cast_signed));
        let name = thread.as_bytes();
        let params: [crate::columns::Param<'_>; 3] =
            [(&known, Type::INT4), (&name, Type::BYTEA), (&expected, Type::INT8)];
        answer(client.query_typed(database.statements().delete(), &params).await?)
    })
}

pub(super) async fn copy(database: &Arc<Database>, job: CopyJob) {
    let CopyJob { from, to, epoch, token, reply } = job;
    let run = |connection: Connection| {
        let (database, from, to) = (Arc::clone(database), Arc::clone(&from), Arc::clone(&to));
        async move {
            let (known, expected) = (known(), epoch.map(u64::cast_signed));
            let (from, to) = (from.as_bytes(), to.as_bytes());
            let params: [crate::columns::Param<'_>; 5] = [
                (&known, Type::INT4),
                (&from, Type::BYTEA),
                (&to, Type::BYTEA),
                (&expected, Type::INT8),
                (&token, Type::INT8),
            ];
            answer(query(&connection, database.statements().copy(), &params).await?)
        }
    };
    let done = match database.attempt(run).await {
        Ok((0, _)) => Ok(()),
        Ok((1, found)) => Err(conflict(&from, epoch, found)),
        Ok((2, _)) => Err(CheckpointError::no_thread(from)),
        Ok(_) => Err(CheckpointError::exists(to)),
        Err(failure) => Err(failure.checkpoint("copy a thread")),
    };
    drop(reply.send(done));
}

fn known() -> i32 {
    i32::try_from(FORMAT).unwrap_or(i32::MAX)
}

/// Reads the outcome of a call, with the fence of the root namespace.
fn answer(rows: Vec<Row>) -> Result<(i16, Fence), Failure> {
    let row = rows.first().ok_or_else(|| Failure::backend("a function of the schema did not answer"))?;
    let epoch = row.try_get::<_, Option<i64>>(1)?.unwrap_or_default().cast_unsigned();
    let head: Option<CheckpointId> = row.try_get::<_, Option<Id>>(2)?.map(|Id(id)| id);
    Ok((row.try_get(0)?, Fence::new(epoch, head)))
}

fn conflict(thread: &Arc<str>, expected: Option<u64>, found: Fence) -> CheckpointError {
    CheckpointError::conflict(Conflict::of_epoch(Arc::clone(thread), expected.unwrap_or_default(), found))
}
