use std::sync::Arc;

use superstep_store::checkpoint::{Checkpoint, Page, StatusKind, ThreadQuery, ThreadRecord};
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};

use crate::columns::{Id, NO_TIME, millis, name, status};
use crate::database::{Database, query};
use crate::error::Error;
use crate::tags::tags;
use crate::transaction::Work;

use super::checkpoints::{COLUMNS, Checkpoints};
use super::params::Params;
use super::rows;

/// The order of threads by name. The index has the first bytes of the names.
const BY_NAME: &str = "substr(t.name, 1, 1000), t.name";

/// The number of codes of statuses, with room for those of later versions.
const CODES: i16 = 16;

/// Lists threads in the order of the query.
pub(crate) fn threads(
    client: &Client,
    database: Arc<Database>,
    wanted: Arc<ThreadQuery>,
) -> Work<'_, Page<ThreadRecord>, Error> {
    Box::pin(async move { select(client, &database, &wanted).await })
}

async fn select(
    client: &Client,
    database: &Database,
    wanted: &ThreadQuery,
) -> Result<Page<ThreadRecord>, Error> {
    let (limit, count) = rows(wanted.limit);
    let mut wanted = wanted.clone();
    let mut page = Page::new(Vec::new(), false);
    loop {
        let mut params = Params::default();
        let statement = statement(database, &wanted, count, &mut params);
        let found = query(client, &statement, &params.as_list()).await?;
        let mut checkpoints = Checkpoints::default();
        let mut last = None;
        for row in &found {
            let record = record(row, &mut checkpoints)?;
            // Different metadata may have the same tags. An unreadable run has unknown metadata, so its thread is not listed.
            let run = record.head.as_ref().ok().and_then(|head| head.as_ref()).map(|head| &*head.run);
            if wanted.selects_run(run) {
                if page.items.len() == limit {
                    page.more = true;
                    return Ok(page);
                }
                page.items.push(record.clone());
            }
            last = Some(record);
        }
        let Some(last) = last.filter(|_| i64::try_from(found.len()).unwrap_or(i64::MAX) == count) else {
            return Ok(page);
        };
        wanted = wanted.continue_after(&last);
    }
}

fn record(row: &Row, checkpoints: &mut Checkpoints) -> Result<ThreadRecord, Error> {
    let thread: Arc<str> = name(row.try_get(0)?)?.into();
    let head = match head(row, checkpoints) {
        Ok(head) => Ok(head),
        // An unreadable head becomes part of the record and does not fail the page.
        Err(Error::Corrupt(corruption)) => Err(corruption.of(Arc::clone(&thread), Arc::from(""))),
        Err(error) => return Err(error),
    };
    let epoch = row.try_get::<_, i64>(1)?.cast_unsigned();
    let status = status(i64::from(row.try_get::<_, i16>(2)?), row.try_get(3)?, row.try_get(4)?);
    Ok(ThreadRecord::new(thread, epoch, head, status))
}

fn head(row: &Row, checkpoints: &mut Checkpoints) -> Result<Option<Checkpoint>, Error> {
    let Some(Id(head)) = row.try_get(5)? else { return Ok(None) };
    if row.try_get::<_, Option<Id>>(6)?.is_none() {
        return Err(Error::corrupt("the newest checkpoint", Some(head), "it is missing"));
    }
    checkpoints.read(row, 6).map(Some)
}

fn statement(database: &Database, wanted: &ThreadQuery, count: i64, params: &mut Params) -> String {
    let schema = database.schema();
    let limit = params.add(count, Type::INT8);
    let (conditions, order) = if let Some(now) = wanted.due {
        (due(wanted, millis(now), params), format!("t.wakes, {BY_NAME}"))
    } else if wanted.newest_first {
        (newest(wanted, params), format!("t.changed DESC, {BY_NAME}"))
    } else {
        (names(wanted, params), BY_NAME.to_owned())
    };
    let mut conditions = conditions;
    if !wanted.metadata.is_empty() {
        let tags = params.add(tags(&wanted.metadata), Type::INT8_ARRAY);
        conditions.push_str(&format!(" AND t.tags @> {tags}"));
    }
    let kinds = kinds(wanted);
    let selected = match (kinds, wanted.due) {
        (None, _) => {
            format!("SELECT t.* FROM {schema}.thread t WHERE {conditions} ORDER BY {order} LIMIT {limit}")
        }
        // Few threads are due, so their status is looked at one by one.
        (Some(kinds), Some(_)) => {
            let kinds = params.add(kinds, Type::INT2_ARRAY);
            format!(
                "SELECT t.* FROM {schema}.thread t WHERE {conditions} AND t.status = ANY({kinds}) \
                 ORDER BY {order} LIMIT {limit}"
            )
        }
        // A list for each status, each from an index, and then the first of all.
        (Some(kinds), None) => {
            let kinds = params.add(kinds, Type::INT2_ARRAY);
            format!(
                "SELECT t.* FROM unnest({kinds}) AS kind CROSS JOIN LATERAL ( \
                     SELECT t.* FROM {schema}.thread t WHERE t.status = kind AND {conditions} \
                     ORDER BY {order} LIMIT {limit} \
                 ) AS t ORDER BY {order} LIMIT {limit}"
            )
        }
    };
    format!(
        "SELECT t.name, t.epoch, t.status, t.wakes, t.changed, t.head, {COLUMNS} \
         FROM ({selected}) AS s CROSS JOIN LATERAL ( \
             SELECT s.*, n.head, n.id AS root FROM (SELECT 1) AS one \
             LEFT JOIN {schema}.namespace n ON n.thread = s.id AND sha256(n.name) = sha256(''::bytea) \
         ) AS t \
         LEFT JOIN LATERAL ( \
             SELECT c.*, 1 AS nth FROM {schema}.checkpoint c WHERE c.namespace = t.root AND c.id = t.head \
         ) AS c ON true \
         LEFT JOIN {schema}.run r ON r.id = c.run \
         ORDER BY {order}"
    )
}

/// Returns the codes of the wanted statuses, or `None` for all.
fn kinds(wanted: &ThreadQuery) -> Option<Vec<i16>> {
    if wanted.status.is_empty() && !wanted.unfinished {
        return None;
    }
    // A status of a later version counts as unknown.
    let selects = |code: &i16| {
        let kind = u8::try_from(*code).map_or(StatusKind::Unknown, StatusKind::from_code);
        (wanted.status.is_empty() || wanted.status.contains(&kind))
            && (!wanted.unfinished || kind != StatusKind::Finished)
    };
    Some((0..CODES).filter(selects).collect())
}

/// The condition for threads that are due.
fn due(wanted: &ThreadQuery, now: i64, params: &mut Params) -> String {
    let now = params.add(now, Type::INT8);
    let names = names(wanted, params);
    let mut conditions = format!("t.wakes <= {now} AND {names}");
    if let Some(last) = &wanted.due_after {
        let wakes = params.add(last.wakes_at.map_or(NO_TIME, millis), Type::INT8);
        let thread = params.add(last.thread.as_bytes().to_vec(), Type::BYTEA);
        conditions.push_str(&format!(
            " AND (t.wakes, substr(t.name, 1, 1000)) >= ({wakes}, substr({thread}, 1, 1000)) \
             AND (t.wakes > {wakes} OR t.name > {thread})"
        ));
    }
    conditions
}

/// The condition for threads by the time of the last change of their status.
fn newest(wanted: &ThreadQuery, params: &mut Params) -> String {
    let mut conditions = names(wanted, params);
    if let Some(last) = &wanted.newest_after {
        let changed = params.add(last.changed_at.map_or(NO_TIME, millis), Type::INT8);
        let thread = params.add(last.thread.as_bytes().to_vec(), Type::BYTEA);
        conditions.push_str(&format!(
            " AND t.changed <= {changed} AND (t.changed < {changed} OR t.name > {thread})"
        ));
    }
    conditions
}

/// The condition on the name of a thread `t`.
fn names(wanted: &ThreadQuery, params: &mut Params) -> String {
    params.names("t.name", wanted.after.as_deref(), wanted.prefix.as_deref())
}
