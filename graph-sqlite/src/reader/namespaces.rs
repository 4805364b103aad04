use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _, params};
use superstep_store::checkpoint::{Checkpoint, NamespaceQuery, NamespaceRecord, Page};

use crate::columns::{CHECKPOINT_COLUMNS, checkpoint, id, text};
use crate::error::Error;

use super::list::PAGE;
use super::runs::RunCache;

/// Lists the namespaces of a thread by name, each with its head.
pub(crate) fn namespaces(db: &Connection, query: &NamespaceQuery) -> Result<Page<NamespaceRecord>, Error> {
    let limit = query.limit.unwrap_or(PAGE).min(PAGE);
    let mut page = Page::new(Vec::new(), false);
    let thread: Option<i64> = db
        .prepare_cached("SELECT id FROM thread WHERE name = ?1")?
        .query_row([&*query.thread], |row| row.get(0))
        .optional()?;
    let Some(thread) = thread else { return Ok(page) };
    let prefix = query.prefix.as_deref().unwrap_or_default();
    let after = query.after.as_deref();
    let from = after.filter(|after| *after > prefix).unwrap_or(prefix);
    let mut runs = RunCache::default();
    let mut statement = db.prepare_cached(&format!(
        "SELECT {CHECKPOINT_COLUMNS}, n.name FROM namespace n JOIN checkpoint c ON c.namespace = n.id \
            AND c.name = (SELECT max(name) FROM checkpoint WHERE namespace = n.id) \
         WHERE n.thread = ?1 AND n.name >= ?2 AND (?3 IS NULL OR n.name <> ?3) ORDER BY n.name"
    ))?;
    let mut rows = statement.query(params![thread, from, after])?;
    while let Some(row) = rows.next()? {
        let name = text(row, 9)?;
        // Names with the same prefix are adjacent.
        if !name.starts_with(prefix) {
            break;
        }
        if page.items.len() == limit {
            page.more = true;
            break;
        }
        let name: Arc<str> = name.into();
        let head = match head(db, row, &mut runs) {
            Ok(head) => Ok(head),
            // An unreadable head becomes part of the record and does not fail the page.
            Err(Error::Corrupt(corruption)) => {
                Err(corruption.of(Arc::clone(&query.thread), Arc::clone(&name)))
            }
            Err(error) => return Err(error),
        };
        page.items.push(NamespaceRecord::new(name, head));
    }
    Ok(page)
}

fn head(db: &Connection, row: &rusqlite::Row<'_>, runs: &mut RunCache) -> Result<Checkpoint, Error> {
    let run = runs.get(db, row.get(8)?);
    let run = run.map_err(|error| error.locate(|| "the checkpoint".to_owned(), id(row, 0).ok()))?;
    checkpoint(row, run)
}
