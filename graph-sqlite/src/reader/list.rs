use std::collections::HashSet;

use rusqlite::{Connection, OptionalExtension as _, params};
use superstep_store::Metadata;
use superstep_store::checkpoint::{Checkpoint, CheckpointQuery, Page};

use crate::columns::{CHECKPOINT_COLUMNS, checkpoint, text};
use crate::error::Error;

use super::runs::{RunCache, run};

/// The maximum page size, whatever the query asks for: a page is held in memory.
pub(super) const PAGE: usize = 1_000;

/// Lists checkpoints of a namespace, in the order of the query.
pub(crate) fn list(db: &Connection, query: &CheckpointQuery) -> Result<Page<Checkpoint>, Error> {
    let Page { items, more, .. } = select(db, query)?;
    Ok(Page::new(items.into_iter().map(|listed| listed.checkpoint).collect(), more))
}

/// A listed checkpoint with its row and its branch.
#[derive(Debug)]
pub(super) struct Listed {
    pub(super) checkpoint: Checkpoint,
    pub(super) row: i64,
    pub(super) branch: i64,
}

/// Selects checkpoints of a namespace, in the order of the query.
pub(super) fn select(db: &Connection, query: &CheckpointQuery) -> Result<Page<Listed>, Error> {
    let limit = query.limit.unwrap_or(PAGE).min(PAGE);
    let mut page = Page::new(Vec::new(), false);
    let Some((thread, namespace)) = find_namespace(db, query)? else { return Ok(page) };
    let wanted = match wanted_runs(db, thread, query)? {
        Some(wanted) if wanted.rows.is_empty() => return Ok(page),
        wanted => wanted,
    };
    let mut runs = RunCache::default();
    let order = if query.oldest_first { "ASC" } else { "DESC" };
    // `CROSS JOIN` keeps this order of the tables, so that the index over requests decides.
    let (from, request) = match &query.request {
        Some(key) => (
            "record r CROSS JOIN checkpoint c ON c.id = r.checkpoint AND r.request_in = ?1 AND r.key = ?5",
            &**key,
        ),
        None => ("checkpoint c", ""),
    };
    let mut statement = db.prepare_cached(&format!(
        "SELECT {CHECKPOINT_COLUMNS}, c.id, c.line FROM {from} WHERE c.namespace = ?1 AND c.name < ?2 AND c.name > ?4 \
         AND (?3 IS NULL OR c.source = ?3) AND ?5 IS NOT NULL ORDER BY c.name {order}"
    ))?;
    // Without `before`, the bound is a tilde, which sorts after every id. Bounds that are always there let SQLite use the
    // index.
    let before = query.before.map_or_else(|| "~".to_owned(), |id| id.to_string());
    let after = query.after.map_or_else(String::new, |id| id.to_string());
    let source = query.source.map(|source| source.name());
    let mut rows = statement.query(params![namespace, before, source, after, request])?;
    while let Some(row) = rows.next()? {
        let of: i64 = row.get(8)?;
        if let Some(wanted) = &wanted {
            if !query.oldest_first && row.get::<_, i64>(9)? <= wanted.since {
                break;
            }
            if !wanted.rows.contains(&of) {
                continue;
            }
        }
        if page.items.len() == limit {
            page.more = true;
            break;
        }
        let run = runs
            .get(db, of)
            .map_err(|error| error.locate(|| "the checkpoint".to_owned(), crate::columns::id(row, 0).ok()))?;
        let checkpoint = checkpoint(row, run)?;
        page.items.push(Listed { checkpoint, row: row.get(9)?, branch: row.get(10)? });
    }
    Ok(page)
}

pub(super) fn find_namespace(db: &Connection, query: &CheckpointQuery) -> Result<Option<(i64, i64)>, Error> {
    let mut statement = db.prepare_cached(
        "SELECT t.id, n.id FROM thread t JOIN namespace n ON n.thread = t.id WHERE t.name = ?1 AND n.name = ?2",
    )?;
    let names = params![&*query.thread, &*query.namespace];
    Ok(statement.query_row(names, |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
}

/// Runs that match a query.
struct WantedRuns {
    rows: HashSet<i64>,
    /// All of their checkpoints have a greater row id.
    since: i64,
}

/// Returns the runs that match the query, or `None` if the query has no condition on runs. Metadata is compared here
/// because SQLite's JSON functions distinguish fewer values.
fn wanted_runs(db: &Connection, thread: i64, query: &CheckpointQuery) -> Result<Option<WantedRuns>, Error> {
    if query.run.is_none() && query.metadata.is_empty() {
        return Ok(None);
    }
    let mut statement = db.prepare_cached(
        "SELECT name, program, metadata, id, since FROM run WHERE thread = ?1 AND (?2 IS NULL OR name = ?2)",
    )?;
    let mut rows = statement.query(params![thread, query.run.as_deref()])?;
    let mut wanted = WantedRuns { rows: HashSet::new(), since: i64::MAX };
    while let Some(row) = rows.next()? {
        let has_all = query.metadata.is_empty() || {
            let run = run(row).map_err(|error| {
                error.locate(|| format!("run `{}`", text(row, 0).unwrap_or_default()), None)
            })?;
            has_all(&run.metadata, &query.metadata)
        };
        if has_all {
            wanted.rows.insert(row.get(3)?);
            wanted.since = wanted.since.min(row.get::<_, Option<i64>>(4)?.unwrap_or(0));
        }
    }
    Ok(Some(wanted))
}

fn has_all(metadata: &Metadata, wanted: &Metadata) -> bool {
    wanted.iter().all(|(key, value)| metadata.get(key) == Some(value))
}
