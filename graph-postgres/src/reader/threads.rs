use std::sync::Arc;

use superstep_store::checkpoint::{Checkpoint, Page, ThreadQuery, ThreadRecord};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::columns::{Id, NO_TIME, millis, name, status};
use crate::database::{Connection, Database, query};
use crate::error::Error;

use super::checkpoints::{COLUMNS, Checkpoints};
use super::params::Params;
use super::rows;

/// The order of threads by name. The index has the first bytes of the names.
const BY_NAME: &str = "substr(t.name, 1, 1000), t.name";

/// The codes of all unfinished statuses, with room for those of later versions.
const UNFINISHED: [i16; 15] = [0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// Lists threads in the order of the query.
pub(crate) async fn threads(
    connection: &Connection,
    database: &Database,
    wanted: &ThreadQuery,
) -> Result<Page<ThreadRecord>, Error> {
    let (limit, count) = rows(wanted.limit);
    let mut params = Params::default();
    let statement = statement(database, wanted, count, &mut params);
    let found = query(connection, &statement, &params.as_list()).await?;
    let mut checkpoints = Checkpoints::default();
    let mut page = Page::new(Vec::new(), false);
    for row in &found {
        if page.items.len() == limit {
            page.more = true;
            break;
        }
        let thread: Arc<str> = name(row.try_get(0)?)?.into();
        let head = match head(row, &mut checkpoints) {
            Ok(head) => Ok(head),
            // An unreadable head becomes part of the record and does not fail the page.
            Err(Error::Corrupt(corruption)) => Err(corruption.of(Arc::clone(&thread), Arc::from(""))),
            Err(error) => return Err(error),
        };
        let epoch = row.try_get::<_, i64>(1)?.cast_unsigned();
        let status = status(i64::from(row.try_get::<_, i16>(2)?), row.try_get(3)?, row.try_get(4)?);
        page.items.push(ThreadRecord::new(thread, epoch, head, status));
    }
    Ok(page)
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
    let (selected, order) = match wanted.due {
        Some(now) => (due(database, wanted, millis(now), &limit, params), format!("t.wakes, {BY_NAME}")),
        None => (by_name(database, wanted, &limit, params), BY_NAME.to_owned()),
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

/// Selects threads by name: all of them, or those of some statuses.
fn by_name(database: &Database, wanted: &ThreadQuery, limit: &str, params: &mut Params) -> String {
    let schema = database.schema();
    let names = names(wanted, params);
    if !wanted.unfinished {
        return format!("SELECT t.* FROM {schema}.thread t WHERE {names} ORDER BY {BY_NAME} LIMIT {limit}");
    }
    // A list for each status, each from the index, and then the first of all.
    let kinds = params.add(UNFINISHED.to_vec(), Type::INT2_ARRAY);
    format!(
        "SELECT t.* FROM unnest({kinds}) AS kind CROSS JOIN LATERAL ( \
             SELECT t.* FROM {schema}.thread t WHERE t.status = kind AND {names} ORDER BY {BY_NAME} LIMIT {limit} \
         ) AS t ORDER BY {BY_NAME} LIMIT {limit}"
    )
}

/// Selects threads that are due, by their wake-up time.
fn due(database: &Database, wanted: &ThreadQuery, now: i64, limit: &str, params: &mut Params) -> String {
    let schema = database.schema();
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
    if wanted.unfinished {
        conditions.push_str(" AND t.status <> 1");
    }
    format!("SELECT t.* FROM {schema}.thread t WHERE {conditions} ORDER BY t.wakes, {BY_NAME} LIMIT {limit}")
}

/// The condition on the name of a thread `t`.
fn names(wanted: &ThreadQuery, params: &mut Params) -> String {
    params.names("t.name", wanted.after.as_deref(), wanted.prefix.as_deref())
}
