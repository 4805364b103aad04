//! Pruning: one transaction per thread, or several if there is much to drop.

use std::sync::Arc;

use superstep_store::checkpoint::{CheckpointId, Prune, Pruned};
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};

use crate::columns::{Id, Param, millis};
use crate::database::{Connection, Database, query};
use crate::error::Failure;
use crate::reader;
use crate::schema::SchemaName;
use crate::transaction::{Once, Work, read_only};

mod candidates;
mod garbage;

use candidates::{Checkpoints, Limits};

/// The maximum number of checkpoints that one transaction drops from each namespace. Writers of the thread wait that long.
const MAX_DROPPED: usize = 5_000;

/// Drops old checkpoints.
pub(crate) async fn prune(database: &Arc<Database>, wanted: Prune) -> Result<Pruned, Failure> {
    if wanted.keep_last.is_none() && wanted.older_than.is_none() {
        return Ok(Pruned::default());
    }
    let limits = Limits {
        // The head is always kept.
        keep: wanted.keep_last.unwrap_or(1).max(1),
        created_before: wanted.older_than.map_or(i64::MAX, millis),
    };
    let mut dropped = 0;
    if let Some(thread) = wanted.thread {
        prune_thread(database, Arc::from(thread.as_bytes()), limits, &mut dropped).await?;
        return Ok(Pruned::new(dropped));
    }
    let mut after = 0;
    loop {
        let threads = threads(database, after, limits).await?;
        if threads.is_empty() {
            return Ok(Pruned::new(dropped));
        }
        for (id, name) in threads {
            after = id;
            prune_thread(database, name, limits, &mut dropped).await?;
        }
    }
}

/// Returns the threads after a row that may have something to drop: more checkpoints than are kept, and an old one.
async fn threads(
    database: &Arc<Database>,
    after: i64,
    limits: Limits,
) -> Result<Vec<(i64, Arc<[u8]>)>, Failure> {
    let schema = database.schema().clone();
    let keep = i64::try_from(limits.keep).unwrap_or(i64::MAX);
    let read = move |connection: Connection| {
        let schema = schema.clone();
        // `OFFSET` keeps the planner from a join, which could read all checkpoints for each page.
        let statement = format!(
            "SELECT t.id, t.name FROM {schema}.thread t WHERE t.id > $1 AND EXISTS ( \
                 SELECT 1 FROM {schema}.namespace n WHERE n.thread = t.id \
                 AND EXISTS (SELECT 1 FROM {schema}.checkpoint c WHERE c.namespace = n.id OFFSET $2) \
                 AND EXISTS ( \
                     SELECT 1 FROM {schema}.checkpoint c WHERE c.namespace = n.id AND c.created < $3 OFFSET 0 \
                 ) OFFSET 0 \
             ) ORDER BY t.id LIMIT 1000"
        );
        async move {
            read_only(connection, &schema, reader::BEGIN, move |client| {
                select(client, statement, after, keep, limits.created_before)
            })
            .await
        }
    };
    let rows = database.read(read).await?;
    rows.iter().map(|row| Ok((row.try_get(0)?, Arc::from(row.try_get::<_, &[u8]>(1)?)))).collect()
}

fn select(
    client: &Client,
    statement: String,
    after: i64,
    keep: i64,
    created_before: i64,
) -> Work<'_, Vec<Row>, Failure> {
    Box::pin(async move {
        let params: [Param<'_>; 3] =
            [(&after, Type::INT8), (&keep, Type::INT8), (&created_before, Type::INT8)];
        query(client, &statement, &params).await
    })
}

async fn prune_thread(
    database: &Arc<Database>,
    thread: Arc<[u8]>,
    limits: Limits,
    dropped: &mut u64,
) -> Result<(), Failure> {
    loop {
        let (schema, thread) = (database.schema().clone(), Arc::clone(&thread));
        // A step that were made twice would find nothing the second time, and its checkpoints would not be counted.
        let once = Once::new(&schema);
        let step = move |connection: Connection| {
            let (once, schema, thread) = (once.clone(), schema.clone(), Arc::clone(&thread));
            async move { once.attempt(connection, |client| call_step(client, schema, thread, limits)).await }
        };
        let (count, is_last) = database.run(step).await?;
        *dropped += count;
        if is_last {
            return Ok(());
        }
    }
}

fn call_step(
    client: &Client,
    schema: SchemaName,
    thread: Arc<[u8]>,
    limits: Limits,
) -> Work<'_, (u64, bool), Failure> {
    Box::pin(async move {
        // It ends with the transaction, as poolers demand.
        let path = format!("SET LOCAL search_path TO {schema}, pg_temp; SET LOCAL lock_timeout = '10s'");
        client.batch_execute(&path).await?;
        step(client, &thread, limits).await
    })
}

/// Drops checkpoints of a thread. Returns their number, and `true` if none are left to drop.
async fn step(client: &Client, thread: &[u8], limits: Limits) -> Result<(u64, bool), Failure> {
    let lock = "SELECT pg_advisory_xact_lock(lock_of($1))";
    client.query_typed(lock, &[(&thread, Type::BYTEA)]).await?;
    let found = "SELECT id FROM thread WHERE sha256(name) = sha256($1)";
    let rows = client.query_typed(found, &[(&thread, Type::BYTEA)]).await?;
    let Some(row) = rows.first() else { return Ok((0, true)) };
    let thread: i64 = row.try_get(0)?;
    let rows = client
        .query_typed("SELECT id, name FROM namespace WHERE thread = $1", &[(&thread, Type::INT8)])
        .await?;
    let mut checkpoints = Checkpoints::new(&rows)?;
    let all: Vec<i64> = checkpoints.ids();
    let params: [Param<'_>; 1] = [(&all, Type::INT8_ARRAY)];
    let of = |statement: &'static str| client.query_typed(statement, &params);
    let rows =
        of("SELECT namespace, id, parent, created FROM checkpoint WHERE namespace = ANY($1) ORDER BY id")
            .await?;
    rows.iter().try_for_each(|row| checkpoints.add(row))?;
    let rows = of(
        "SELECT DISTINCT q.namespace, q.checkpoint FROM record q WHERE q.namespace = ANY($1) AND q.kind = 3 AND NOT EXISTS ( \
             SELECT 1 FROM record a WHERE a.namespace = q.namespace AND a.checkpoint = q.checkpoint AND a.task = q.task \
             AND a.kind = 4 AND substr(sha256(a.key), 1, 8) = substr(sha256(q.key), 1, 8) AND a.key = q.key)",
    )
    .await?;
    rows.iter().try_for_each(|row| checkpoints.add_open_interrupt(row))?;
    let rows =
        of("SELECT namespace, checkpoint, key FROM record WHERE namespace = ANY($1) AND kind = 11").await?;
    rows.iter().try_for_each(|row| checkpoints.add_retained(row))?;
    let (dropped, is_last) = checkpoints.to_drop(limits, MAX_DROPPED);
    if dropped.is_empty() {
        return Ok((0, true));
    }
    drop_checkpoints(client, &dropped).await?;
    let mut changed: Vec<i64> = dropped.iter().map(|(namespace, _)| *namespace).collect();
    changed.dedup();
    for namespace in changed {
        garbage::collect(client, namespace).await?;
    }
    let runs = "DELETE FROM run WHERE thread = $1 AND id NOT IN (SELECT run FROM checkpoint WHERE namespace = ANY($2))";
    client.execute_typed(runs, &[(&thread, Type::INT8), (&all, Type::INT8_ARRAY)]).await?;
    Ok((u64::try_from(dropped.len()).unwrap_or(u64::MAX), is_last))
}

async fn drop_checkpoints(client: &Client, dropped: &[(i64, CheckpointId)]) -> Result<(), Failure> {
    let (namespaces, ids): (Vec<i64>, Vec<Id>) =
        dropped.iter().map(|(namespace, id)| (*namespace, Id(*id))).unzip();
    for statement in [
        "DELETE FROM record k USING unnest($1, $2) AS d (namespace, id) \
         WHERE k.namespace = d.namespace AND k.checkpoint = d.id",
        "DELETE FROM checkpoint c USING unnest($1, $2) AS d (namespace, id) \
         WHERE c.namespace = d.namespace AND c.id = d.id",
    ] {
        let params: [Param<'_>; 2] = [(&namespaces, Type::INT8_ARRAY), (&ids, Type::UUID_ARRAY)];
        client.execute_typed(statement, &params).await?;
    }
    Ok(())
}

fn id(row: &Row, column: usize) -> Result<CheckpointId, Failure> {
    let Id(id) = row.try_get(column)?;
    Ok(id)
}
