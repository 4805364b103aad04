use superstep_store::checkpoint::{Checkpoint, CheckpointId, CheckpointQuery, Page};
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use crate::columns::Id;
use crate::database::{Database, Param, query};
use crate::error::Error;
use crate::tags::{has_all, tags};

use super::checkpoints::{COLUMNS, Checkpoints};
use super::rows;

/// Lists checkpoints of a namespace, in the order of the query.
pub(crate) async fn list(
    client: &Client,
    database: &Database,
    wanted: &CheckpointQuery,
) -> Result<Page<Checkpoint>, Error> {
    let page = select(client, database, wanted, wanted.limit).await?;
    Ok(Page::new(page.items.into_iter().map(|listed| listed.checkpoint).collect(), page.more))
}

/// A listed checkpoint with its place.
pub(super) struct Listed {
    pub(super) checkpoint: Checkpoint,
    pub(super) namespace: i64,
    pub(super) branch: i64,
}

/// Lists checkpoints with their places, at most `limit`.
pub(super) async fn select(
    client: &Client,
    database: &Database,
    wanted: &CheckpointQuery,
    limit: Option<usize>,
) -> Result<Page<Listed>, Error> {
    let (limit, count) = rows(limit);
    let statement = statement(database, wanted);
    let (thread, namespace) = (wanted.thread.as_bytes(), wanted.namespace.as_bytes());
    let source = wanted.source.map(|source| source.name());
    let run = wanted.run.as_deref().map(str::as_bytes);
    let request = wanted.request.as_deref().map(str::as_bytes);
    let tags = tags(&wanted.metadata);
    let (mut before, mut after) = (wanted.before, wanted.after);
    let mut page = Page::new(Vec::new(), false);
    loop {
        let greatest = Id(before.unwrap_or(CheckpointId::from_bytes([0xff; 16])));
        let is_bounded = before.is_some();
        let smallest = Id(after.unwrap_or(CheckpointId::FIRST));
        let params: [Param<'_>; 10] = [
            (&thread, Type::BYTEA),
            (&namespace, Type::BYTEA),
            (&greatest, Type::UUID),
            (&is_bounded, Type::BOOL),
            (&count, Type::INT8),
            (&source, Type::TEXT),
            (&run, Type::BYTEA),
            (&tags, Type::INT8_ARRAY),
            (&smallest, Type::UUID),
            (&request, Type::BYTEA),
        ];
        let found = query(client, &statement, &params).await?;
        let mut checkpoints = Checkpoints::default();
        for row in &found {
            let checkpoint = checkpoints.read(row, 0)?;
            *(if wanted.oldest_first { &mut after } else { &mut before }) = Some(checkpoint.id);
            // Different metadata may have the same tags.
            if !has_all(&checkpoint.run.metadata, &wanted.metadata) {
                continue;
            }
            if page.items.len() == limit {
                page.more = true;
                return Ok(page);
            }
            let (namespace, branch) = (row.try_get(12)?, row.try_get(13)?);
            page.items.push(Listed { checkpoint, namespace, branch });
        }
        if i64::try_from(found.len()).unwrap_or(i64::MAX) < count {
            return Ok(page);
        }
    }
}

/// Returns the statement for a query. Conditions that are not set are left out, so that they cost nothing.
fn statement(database: &Database, wanted: &CheckpointQuery) -> String {
    let schema = database.schema();
    let order = if wanted.oldest_first { "ASC" } else { "DESC" };
    let source = if wanted.source.is_some() { "c.source = $6" } else { "$6::text IS NULL" };
    // Each is one value and no join, so that the rows come from the index in their order.
    let thread = format!("(SELECT t.id FROM {schema}.thread t WHERE sha256(t.name) = sha256($1))");
    let namespace = format!(
        "(SELECT n.id FROM {schema}.namespace n WHERE n.thread = {thread} AND sha256(n.name) = sha256($2))"
    );
    let run = if wanted.run.is_some() || !wanted.metadata.is_empty() {
        format!(
            "c.run = ANY(ARRAY(SELECT w.id FROM {schema}.run w WHERE w.thread = {thread} \
             AND ($7::bytea IS NULL OR (sha256(w.name) = sha256($7) AND w.name = $7)) AND w.tags @> $8))"
        )
    } else {
        "$7::bytea IS NULL AND cardinality($8::bigint[]) = 0".to_owned()
    };
    let request = if wanted.request.is_some() {
        format!(
            "c.id = ANY(ARRAY(SELECT k.checkpoint FROM {schema}.record k WHERE k.namespace = {namespace} \
             AND k.kind = 12 AND substr(sha256(k.key), 1, 8) = substr(sha256($10), 1, 8) AND k.key = $10))"
        )
    } else {
        "$10::bytea IS NULL".to_owned()
    };
    format!(
        "SELECT {COLUMNS}, c.namespace, c.branch FROM ( \
             SELECT c.*, row_number() OVER (PARTITION BY c.run ORDER BY c.id {order}) AS nth FROM ( \
                 SELECT c.* FROM {schema}.checkpoint c \
                 WHERE c.namespace = {namespace} AND c.id <= $3 AND (NOT $4 OR c.id < $3) AND c.id > $9 \
                     AND {source} AND {run} AND {request} \
                 ORDER BY c.id {order} LIMIT $5 \
             ) AS c \
         ) AS c LEFT JOIN {schema}.run r ON r.id = c.run ORDER BY c.id {order}"
    )
}
