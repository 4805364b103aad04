use std::sync::Arc;

use rusqlite::{CachedStatement, Connection, OptionalExtension as _, Row, Rows, params};
use superstep_store::checkpoint::{Checkpoint, Page, StatusKind, StoredStatus, ThreadQuery, ThreadRecord};

use crate::columns::{CHECKPOINT_COLUMNS, WAKES_ALWAYS, checkpoint, millis, rank, status, text};
use crate::error::Error;
use crate::thread_metadata::entry;

use super::list::PAGE;
use super::runs::RunCache;

/// Lists threads in the order of the query.
///
/// Threads are found in an index for each status, or in the index over metadata. The lists of all statuses are merged.
pub(crate) fn threads(db: &Connection, query: &ThreadQuery) -> Result<Page<ThreadRecord>, Error> {
    let limit = query.limit.unwrap_or(PAGE).min(PAGE);
    let mut page = Page::new(Vec::new(), false);
    let order = Order::of(query);
    let prefix = query.prefix.as_deref().unwrap_or_default();
    let mut reading = Reading { db, query, runs: RunCache::default() };
    let mut statements = reading.statements(&order)?;
    let mut parts = statements.iter_mut().map(Part::new).collect::<Result<Vec<_>, _>>()?;
    while let Some(Position { name, thread, .. }) = next(&mut parts)? {
        if !name.starts_with(prefix) {
            match order {
                // Names with the same prefix are adjacent. A `LIKE` pattern would misread names that contain `%` or `_`.
                Order::Name { .. } => break,
                Order::Due { .. } | Order::Newest { .. } => continue,
            }
        }
        if query.after.as_ref().is_some_and(|after| *name <= **after) {
            continue;
        }
        if page.items.len() == limit {
            // The thread may not be selected, so there *may* be more.
            match reading.record(thread)? {
                Some(_) => {
                    page.more = true;
                    break;
                }
                None => continue,
            }
        }
        page.items.extend(reading.record(thread)?);
    }
    Ok(page)
}

/// The order of a list, with the position after which it begins.
#[derive(Debug)]
enum Order<'q> {
    Name { from: &'q str },
    Due { until: i64, wakes: i64, name: &'q str, is_after: bool },
    Newest { rank: i64, name: &'q str, is_after: bool },
}

impl<'q> Order<'q> {
    fn of(query: &'q ThreadQuery) -> Self {
        if let Some(now) = query.due {
            let last = query.due_after.as_ref();
            let wakes = last.and_then(|last| last.wakes_at).map_or(WAKES_ALWAYS, millis);
            let name = last.map_or("", |last| &*last.thread);
            return Self::Due { until: millis(now), wakes, name, is_after: last.is_some() };
        }
        if query.newest_first {
            let last = query.newest_after.as_ref();
            let rank = last.map_or(i64::MIN, |last| rank(last.changed_at));
            let name = last.map_or("", |last| &*last.thread);
            return Self::Newest { rank, name, is_after: last.is_some() };
        }
        let prefix = query.prefix.as_deref().unwrap_or_default();
        let after = query.after.as_deref();
        Self::Name { from: after.filter(|after| *after > prefix).unwrap_or(prefix) }
    }
}

struct Reading<'a> {
    db: &'a Connection,
    query: &'a ThreadQuery,
    runs: RunCache,
}

impl<'a> Reading<'a> {
    /// Returns a bound statement for each part of the list.
    fn statements(&self, order: &Order<'_>) -> Result<Vec<CachedStatement<'a>>, Error> {
        let metadata = self.query.metadata.iter().next().map(|(key, value)| entry(key, value));
        // A single lower bound lets SQLite use the index.
        let (table, thread, index) = match (metadata, order) {
            (Some(_), Order::Name { .. }) => ("thread_metadata", "thread", "thread_metadata_by_name"),
            (Some(_), Order::Newest { .. }) => ("thread_metadata", "thread", "thread_metadata_by_rank"),
            (_, Order::Due { .. }) => ("thread", "id", "thread_by_wake"),
            (None, Order::Newest { .. }) => ("thread", "id", "thread_by_rank"),
            (None, Order::Name { .. }) => ("thread", "id", "thread_by_status"),
        };
        let by_metadata = table == "thread_metadata";
        let (key, part) = if by_metadata { ("entry", metadata) } else { ("status", None) };
        let parts = match part {
            Some(entry) => vec![entry],
            None => self.wanted_statuses()?,
        };
        let (sort, condition) = match order {
            Order::Name { .. } => ("0", "name >= ?2"),
            Order::Due { .. } => (
                "wakes",
                "wakes <= ?5 AND (wakes, name) >= (?3, ?2) AND NOT (?4 AND wakes = ?3 AND name = ?2)",
            ),
            Order::Newest { .. } => {
                ("rank", "(rank, name) >= (?3, ?2) AND NOT (?4 AND rank = ?3 AND name = ?2)")
            }
        };
        let by = if sort == "0" { "name".to_owned() } else { format!("{sort}, name") };
        let sql = format!(
            "SELECT {sort}, name, {thread} FROM {table} INDEXED BY {index} WHERE {key} = ?1 AND {condition} ORDER BY {by}"
        );
        let bind = |part: i64| {
            let mut statement = self.db.prepare_cached(&sql)?;
            statement.raw_bind_parameter(1, part)?;
            match order {
                Order::Name { from } => statement.raw_bind_parameter(2, from)?,
                Order::Due { until, wakes, name, is_after } => {
                    statement.raw_bind_parameter(2, name)?;
                    statement.raw_bind_parameter(3, wakes)?;
                    statement.raw_bind_parameter(4, is_after)?;
                    statement.raw_bind_parameter(5, until)?;
                }
                Order::Newest { rank, name, is_after } => {
                    statement.raw_bind_parameter(2, name)?;
                    statement.raw_bind_parameter(3, rank)?;
                    statement.raw_bind_parameter(4, is_after)?;
                }
            }
            Ok(statement)
        };
        parts.into_iter().map(bind).collect()
    }

    /// Returns the values of the column `status` that the query selects.
    fn wanted_statuses(&self) -> Result<Vec<i64>, Error> {
        let mut query = self.db.prepare_cached("SELECT min(status) FROM thread WHERE status > ?1")?;
        let mut wanted = Vec::new();
        let mut last = i64::MIN;
        while let Some(next) = query.query_row([last], |row| row.get::<_, Option<i64>>(0))? {
            let kind = u8::try_from(next).map_or(StatusKind::Unknown, StatusKind::from_code);
            let ThreadQuery { status, unfinished, .. } = self.query;
            let is_wanted = (status.is_empty() || status.contains(&kind))
                && (!unfinished || StoredStatus::new(kind).is_unfinished());
            wanted.extend(is_wanted.then_some(next));
            last = next;
        }
        Ok(wanted)
    }

    /// Reads a thread. Returns `None` if the query does not select it.
    fn record(&mut self, thread: i64) -> Result<Option<ThreadRecord>, Error> {
        let mut statement = self.db.prepare_cached(&format!(
            "SELECT {CHECKPOINT_COLUMNS}, t.name, t.epoch, t.status, t.wakes, t.rank \
             FROM thread t \
             LEFT JOIN namespace n ON n.thread = t.id AND n.name = '' \
             LEFT JOIN checkpoint c ON c.namespace = n.id \
                AND c.name = (SELECT max(name) FROM checkpoint WHERE namespace = n.id) \
             WHERE t.id = ?1"
        ))?;
        let mut rows = statement.query([thread])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let status = status(row, 11)?;
        if !self.query.selects(&status) || !self.has_metadata(thread)? {
            return Ok(None);
        }
        let (name, epoch) = (Arc::from(text(row, 9)?), row.get::<_, i64>(10)?.cast_unsigned());
        let head = match head(self.db, row, &mut self.runs) {
            Ok(head) => Ok(head),
            // An unreadable head becomes part of the record and does not fail the page.
            Err(Error::Corrupt(corruption)) => Err(corruption.of(Arc::clone(&name), Arc::from(""))),
            Err(error) => return Err(error),
        };
        if let Ok(head) = &head
            && !self.query.selects_run(head.as_ref().map(|head| &*head.run))
        {
            return Ok(None);
        }
        Ok(Some(ThreadRecord::new(name, epoch, head, status)))
    }

    /// Returns `true` if the index has all metadata of the query for a thread.
    fn has_metadata(&self, thread: i64) -> rusqlite::Result<bool> {
        for (key, value) in &self.query.metadata {
            let found = self
                .db
                .prepare_cached("SELECT 1 FROM thread_metadata WHERE thread = ?1 AND entry = ?2")?
                .query_row(params![thread, entry(key, value)], |_| Ok(()))
                .optional()?;
            if found.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The position of a thread in a list. Positions sort like the list.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Position {
    sort: i64,
    name: String,
    thread: i64,
}

/// A part of a list, with its next position.
struct Part<'s> {
    rows: Rows<'s>,
    head: Option<Position>,
}

impl<'s> Part<'s> {
    fn new(statement: &'s mut CachedStatement<'_>) -> Result<Self, Error> {
        let mut part = Self { rows: statement.raw_query(), head: None };
        part.advance()?;
        Ok(part)
    }

    /// Returns the next position and reads the one after it.
    fn advance(&mut self) -> Result<Option<Position>, Error> {
        let next = match self.rows.next()? {
            Some(row) => {
                Some(Position { sort: row.get(0)?, name: text(row, 1)?.to_owned(), thread: row.get(2)? })
            }
            None => None,
        };
        Ok(std::mem::replace(&mut self.head, next))
    }
}

/// Returns the next position of several parts.
fn next(parts: &mut [Part<'_>]) -> Result<Option<Position>, Error> {
    let heads = parts.iter().enumerate().filter_map(|(at, part)| Some((part.head.as_ref()?, at)));
    let least = heads.min().map(|(_, at)| at);
    match least.and_then(|at| parts.get_mut(at)) {
        Some(part) => part.advance(),
        None => Ok(None),
    }
}

fn head(db: &Connection, row: &Row<'_>, runs: &mut RunCache) -> Result<Option<Checkpoint>, Error> {
    let Some(run) = row.get::<_, Option<i64>>(8)? else { return Ok(None) };
    let locate = |error: Error| error.locate(|| "the checkpoint".to_owned(), crate::columns::id(row, 0).ok());
    Ok(Some(checkpoint(row, runs.get(db, run).map_err(locate)?)?))
}
