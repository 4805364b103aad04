use std::sync::Arc;

use rusqlite::{Connection, Row, params};
use superstep_store::checkpoint::{Checkpoint, Page, RecordKey, RecordKind, ThreadQuery, ThreadRecord};

use crate::columns::{CHECKPOINT_COLUMNS, checkpoint, text};
use crate::error::Error;

use super::list::PAGE;
use super::runs::RunCache;

/// Lists threads by name.
pub(crate) fn threads(db: &Connection, query: &ThreadQuery) -> Result<Page<ThreadRecord>, Error> {
    let limit = query.limit.unwrap_or(PAGE).min(PAGE);
    let prefix = query.prefix.as_deref().unwrap_or_default();
    let mut page = Page::new(Vec::new(), false);
    let mut runs = RunCache::default();
    let mut statement = db.prepare_cached(&format!(
        "SELECT {CHECKPOINT_COLUMNS}, t.name, t.epoch, \
            EXISTS (SELECT 1 FROM record r WHERE r.checkpoint = c.id AND r.task = {} AND r.kind = {}) \
         FROM thread t \
         LEFT JOIN namespace n ON n.thread = t.id AND n.name = '' \
         LEFT JOIN checkpoint c ON c.namespace = n.id \
            AND c.name = (SELECT max(name) FROM checkpoint WHERE namespace = n.id) \
         WHERE t.name >= ?1 AND (?2 IS NULL OR t.name <> ?2) ORDER BY t.name",
        RecordKey::NO_TASK,
        RecordKind::Goto.code(),
    ))?;
    // A single lower bound lets SQLite use the index.
    let after = query.after.as_deref();
    let from = after.filter(|after| *after > prefix).unwrap_or(prefix);
    let mut rows = statement.query(params![from, after])?;
    while let Some(row) = rows.next()? {
        let name = text(row, 9)?;
        // Names with the same prefix are adjacent. A `LIKE` pattern would misread names that contain `%` or `_`.
        if !name.starts_with(prefix) {
            break;
        }
        let record = record(db, row, name, &mut runs)?;
        if query.unfinished && !record.unfinished {
            continue;
        }
        if page.items.len() == limit {
            page.more = true;
            break;
        }
        page.items.push(record);
    }
    Ok(page)
}

/// Reads a thread. An unreadable head becomes part of the record and does not fail the page.
fn record(db: &Connection, row: &Row<'_>, name: &str, runs: &mut RunCache) -> Result<ThreadRecord, Error> {
    let (thread, epoch) = (Arc::from(name), row.get::<_, i64>(10)?.cast_unsigned());
    let head = match head(db, row, runs) {
        Ok(head) => Ok(head),
        Err(Error::Corrupt(corruption)) => Err(corruption.of(Arc::clone(&thread), Arc::from(""))),
        Err(error) => return Err(error),
    };
    let unfinished = match &head {
        Ok(Some(head)) => !head.next.is_empty() || row.get(11)?,
        Ok(None) => false,
        Err(_) => true,
    };
    Ok(ThreadRecord::new(thread, epoch, head, unfinished))
}

fn head(db: &Connection, row: &Row<'_>, runs: &mut RunCache) -> Result<Option<Checkpoint>, Error> {
    let Some(run) = row.get::<_, Option<i64>>(8)? else { return Ok(None) };
    let locate = |error: Error| error.locate(|| "the checkpoint".to_owned(), crate::columns::id(row, 0).ok());
    Ok(Some(checkpoint(row, runs.get(db, run).map_err(locate)?)?))
}
