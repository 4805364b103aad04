use std::sync::Arc;

use graph_core::checkpoint::{Page, ThreadQuery, ThreadRecord};
use rusqlite::{Connection, Row, params};

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
        "SELECT {CHECKPOINT}, t.name, t.epoch FROM thread t \
         LEFT JOIN namespace n ON n.thread = t.id AND n.name = '' \
         LEFT JOIN checkpoint c ON c.namespace = n.id \
            AND c.name = (SELECT max(name) FROM checkpoint WHERE namespace = n.id) \
         WHERE t.name >= ?1 AND (?2 IS NULL OR t.name <> ?2) ORDER BY t.name"
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
        let record = record(db, row, name, &mut runs).map_err(|trouble| of_thread(trouble, name))?;
        let runs_on = record.head.as_ref().is_some_and(|head| !head.next.is_empty());
        if query.unfinished && !runs_on {
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

fn record(db: &Connection, row: &Row<'_>, name: &str, runs: &mut Runs) -> Result<ThreadRecord, Trouble> {
    let head = match row.get::<_, Option<i64>>(8)? {
        Some(run) => Some(checkpoint(row, runs.get(db, run)?)?),
        None => None,
    };
    Ok(ThreadRecord { thread: Arc::from(name), epoch: row.get::<_, i64>(10)?.cast_unsigned(), head })
}

fn of_thread(trouble: Trouble, name: &str) -> Trouble {
    match trouble {
        Trouble::Damaged(damage) => {
            let reason = format!("{}: {}", damage.what, damage.reason);
            Trouble::damaged(format!("the newest checkpoint of `{name}`"), damage.checkpoint, reason)
        }
        other => other,
    }
}
