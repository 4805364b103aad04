use std::sync::Arc;

use rusqlite::{Connection, Row, ToSql, params};
use superstep_store::checkpoint::{Checkpoint, Page, ThreadQuery, ThreadRecord};

use crate::columns::{CHECKPOINT_COLUMNS, WAKES_ALWAYS, checkpoint, millis, status, text};
use crate::error::Error;

use super::list::PAGE;
use super::runs::RunCache;

/// An order of threads, as parts of a statement.
struct Order {
    index: &'static str,
    condition: &'static str,
    by: &'static str,
}

// A single lower bound lets SQLite use the index.
const BY_NAME: Order =
    Order { index: "", condition: "t.name >= ?1 AND (?2 IS NULL OR t.name <> ?2)", by: "t.name" };

const UNFINISHED: Order = Order {
    index: "INDEXED BY thread_unfinished",
    condition: "t.status <> 1 AND t.name >= ?1 AND (?2 IS NULL OR t.name <> ?2)",
    by: "t.name",
};

const DUE: Order = Order {
    index: "INDEXED BY thread_by_wake",
    condition: "t.wakes <= ?1 AND (t.wakes, t.name) >= (?2, ?3) AND NOT (?4 AND t.wakes = ?2 AND t.name = ?3)",
    by: "t.wakes, t.name",
};

/// Lists threads in the order of the query.
pub(crate) fn threads(db: &Connection, query: &ThreadQuery) -> Result<Page<ThreadRecord>, Error> {
    let prefix = query.prefix.as_deref().unwrap_or_default();
    let after = query.after.as_deref();
    if let Some(now) = query.due {
        let last = query.due_after.as_ref();
        let wakes = last.and_then(|last| last.wakes_at).map_or(WAKES_ALWAYS, millis);
        let name = last.map_or("", |last| &*last.thread);
        let select = |name: &str| match after {
            Some(after) if name <= after => Select::Skip,
            _ if name.starts_with(prefix) => Select::List,
            _ => Select::Skip,
        };
        return page(db, query, &DUE, params![millis(now), wakes, name, last.is_some()], select);
    }
    let from = after.filter(|after| *after > prefix).unwrap_or(prefix);
    // Names with the same prefix are adjacent. A `LIKE` pattern would misread names that contain `%` or `_`.
    let select = |name: &str| if name.starts_with(prefix) { Select::List } else { Select::End };
    let order = if query.unfinished { &UNFINISHED } else { &BY_NAME };
    page(db, query, order, params![from, after], select)
}

/// The decision on a thread of the order.
enum Select {
    List,
    Skip,
    /// Neither this thread nor a later one is listed.
    End,
}

fn page(
    db: &Connection,
    query: &ThreadQuery,
    order: &Order,
    params: &[&dyn ToSql],
    select: impl Fn(&str) -> Select,
) -> Result<Page<ThreadRecord>, Error> {
    let limit = query.limit.unwrap_or(PAGE).min(PAGE);
    let mut page = Page::new(Vec::new(), false);
    let mut runs = RunCache::default();
    let Order { index, condition, by } = order;
    let mut statement = db.prepare_cached(&format!(
        "SELECT {CHECKPOINT_COLUMNS}, t.name, t.epoch, t.status, t.wakes \
         FROM thread t {index} \
         LEFT JOIN namespace n ON n.thread = t.id AND n.name = '' \
         LEFT JOIN checkpoint c ON c.namespace = n.id \
            AND c.name = (SELECT max(name) FROM checkpoint WHERE namespace = n.id) \
         WHERE {condition} ORDER BY {by}"
    ))?;
    let mut rows = statement.query(params)?;
    while let Some(row) = rows.next()? {
        let name = text(row, 9)?;
        match select(name) {
            Select::List => {}
            Select::Skip => continue,
            Select::End => break,
        }
        let status = status(row, 11)?;
        if !query.selects(&status) {
            continue;
        }
        if page.items.len() == limit {
            page.more = true;
            break;
        }
        let (thread, epoch) = (Arc::from(name), row.get::<_, i64>(10)?.cast_unsigned());
        let head = match head(db, row, &mut runs) {
            Ok(head) => Ok(head),
            // An unreadable head becomes part of the record and does not fail the page.
            Err(Error::Corrupt(corruption)) => Err(corruption.of(Arc::clone(&thread), Arc::from(""))),
            Err(error) => return Err(error),
        };
        page.items.push(ThreadRecord::new(thread, epoch, head, status));
    }
    Ok(page)
}

fn head(db: &Connection, row: &Row<'_>, runs: &mut RunCache) -> Result<Option<Checkpoint>, Error> {
    let Some(run) = row.get::<_, Option<i64>>(8)? else { return Ok(None) };
    let locate = |error: Error| error.locate(|| "the checkpoint".to_owned(), crate::columns::id(row, 0).ok());
    Ok(Some(checkpoint(row, runs.get(db, run).map_err(locate)?)?))
}
