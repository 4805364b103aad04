use std::sync::Arc;

use rusqlite::{Connection, Row, params};
use superstep_store::checkpoint::{Checkpoint, Page, RecordKey, RecordKind, ThreadQuery, ThreadRecord};

use crate::stored::{CHECKPOINT, checkpoint, text};
use crate::trouble::Trouble;

use super::list::PAGE;
use super::runs::Runs;

/// Threads, by name.
pub(crate) fn threads(db: &Connection, query: &ThreadQuery) -> Result<Page<ThreadRecord>, Trouble> {
    let limit = query.limit.unwrap_or(PAGE).min(PAGE);
    let prefix = query.prefix.as_deref().unwrap_or_default();
    let mut page = Page { items: Vec::new(), more: false };
    let mut runs = Runs::default();
    let mut statement = db.prepare_cached(&format!(
        "SELECT {CHECKPOINT}, t.name, t.epoch, \
            EXISTS (SELECT 1 FROM record r WHERE r.checkpoint = c.id AND r.task = {} AND r.kind = {}) \
         FROM thread t \
         LEFT JOIN namespace n ON n.thread = t.id AND n.name = '' \
         LEFT JOIN checkpoint c ON c.namespace = n.id \
            AND c.name = (SELECT max(name) FROM checkpoint WHERE namespace = n.id) \
         WHERE t.name >= ?1 AND (?2 IS NULL OR t.name <> ?2) ORDER BY t.name",
        RecordKey::NO_TASK,
        RecordKind::Goto.code(),
    ))?;
    // One lower bound, for the index.
    let after = query.after.as_deref();
    let from = after.filter(|after| *after > prefix).unwrap_or(prefix);
    let mut rows = statement.query(params![from, after])?;
    while let Some(row) = rows.next()? {
        let name = text(row, 9)?;
        // Names that begin so stand together; no pattern that a name could be mistaken for is needed.
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

/// A thread of a row. What cannot be read of its head is said of it alone.
fn record(db: &Connection, row: &Row<'_>, name: &str, runs: &mut Runs) -> Result<ThreadRecord, Trouble> {
    let (thread, epoch) = (Arc::from(name), row.get::<_, i64>(10)?.cast_unsigned());
    let head = match head(db, row, runs) {
        Ok(head) => Ok(head),
        Err(Trouble::Damaged(damage)) => Err(damage.of(Arc::clone(&thread), Arc::from(""))),
        Err(trouble) => return Err(trouble),
    };
    let unfinished = match &head {
        Ok(Some(head)) => !head.next.is_empty() || row.get(11)?,
        Ok(None) => false,
        Err(_) => true,
    };
    Ok(ThreadRecord { thread, epoch, head, unfinished })
}

fn head(db: &Connection, row: &Row<'_>, runs: &mut Runs) -> Result<Option<Checkpoint>, Trouble> {
    let Some(run) = row.get::<_, Option<i64>>(8)? else { return Ok(None) };
    let within =
        |trouble: Trouble| trouble.within(|| "the checkpoint".to_owned(), crate::stored::id(row, 0).ok());
    Ok(Some(checkpoint(row, runs.get(db, run).map_err(within)?)?))
}
