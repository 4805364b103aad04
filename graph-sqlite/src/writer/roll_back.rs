//! Rolling back a namespace: removes its newest checkpoints with everything that only they need.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, OptionalExtension as _, params};
use superstep_store::checkpoint::CheckpointId;

use crate::chunk::{self, Chunk};
use crate::columns::{IdText, id, optional_id};
use crate::error::Error;
use crate::reader::change_row;

use super::branches::fields;
use super::changes::append_changes;
use super::delete::delete_namespace;
use super::row_cache::CachedThread;

/// Removes every checkpoint of a namespace after `to`. All of them if `to` is `None`. Returns their runs.
///
/// The cost is that of the removed rows, and one search for each field on each branch that loses checkpoints.
pub(super) fn roll_back(
    db: &Connection,
    thread: &mut CachedThread,
    name: &str,
    to: Option<CheckpointId>,
) -> Result<BTreeSet<i64>, Error> {
    let found = db
        .prepare_cached("SELECT id FROM namespace WHERE thread = ?1 AND name = ?2")?
        .query_row(params![thread.id, name], |row| row.get(0))
        .optional()?;
    let Some(namespace) = found else { return Ok(BTreeSet::new()) };
    thread.forget(name);
    let removed = Removed::find(db, namespace, to)?;
    match to {
        Some(_) if removed.new_tips.is_empty() => {}
        Some(to) => remove_after(db, namespace, to, &removed.new_tips)?,
        None => delete_namespace(db, namespace)?,
    }
    Ok(removed.runs)
}

/// Deletes those of these runs that have no checkpoint any more, in any namespace of the thread.
pub(super) fn collect_runs(db: &Connection, thread: i64, runs: &BTreeSet<i64>) -> Result<(), Error> {
    let newest: Option<i64> = db
        .prepare_cached(
            "SELECT max((SELECT id FROM checkpoint WHERE namespace = n.id ORDER BY name DESC LIMIT 1)) \
             FROM namespace n WHERE n.thread = ?1",
        )?
        .query_row([thread], |row| row.get(0))?;
    for run in runs {
        db.prepare_cached("DELETE FROM run WHERE id = ?1 AND (?2 IS NULL OR since >= ?2)")?
            .execute(params![run, newest])?;
    }
    Ok(())
}

/// What the removed checkpoints belong to.
#[derive(Default)]
struct Removed {
    runs: BTreeSet<i64>,
    /// The branches that lose checkpoints, each with the parent of the first one that it loses.
    new_tips: BTreeMap<i64, Option<CheckpointId>>,
}

impl Removed {
    fn find(db: &Connection, namespace: i64, to: Option<CheckpointId>) -> Result<Self, Error> {
        let mut query = db.prepare_cached(
            "SELECT line, parent, run FROM checkpoint WHERE namespace = ?1 AND name > ?2 ORDER BY name",
        )?;
        let after = to.map(|to| to.to_string()).unwrap_or_default();
        let mut rows = query.query(params![namespace, after])?;
        let mut removed = Self::default();
        while let Some(row) = rows.next()? {
            let parent = optional_id(row, 1)?;
            removed.new_tips.entry(row.get(0)?).or_insert(parent);
            removed.runs.insert(row.get(2)?);
        }
        Ok(removed)
    }
}

fn remove_after(
    db: &Connection,
    namespace: i64,
    to: CheckpointId,
    new_tips: &BTreeMap<i64, Option<CheckpointId>>,
) -> Result<(), Error> {
    let bounds = params![namespace, IdText::from(to)];
    for statement in [
        "DELETE FROM record WHERE checkpoint IN (SELECT id FROM checkpoint WHERE namespace = ?1 AND name > ?2)",
        "DELETE FROM checkpoint WHERE namespace = ?1 AND name > ?2",
    ] {
        db.prepare_cached(statement)?.execute(bounds)?;
    }
    let fields = fields(db, namespace)?;
    let mut left: BTreeSet<i64> = new_tips.keys().copied().collect();
    let mut statement = db.prepare_cached("SELECT parent, first, tip FROM line WHERE id = ?1")?;
    // Parent branches have smaller ids than their children.
    while let Some(branch) = left.pop_last() {
        let mut rows = statement.query([branch])?;
        let Some(row) = rows.next()? else {
            return Err(Error::corrupt("a branch", None, "it is missing"));
        };
        // Pruning may have dropped the checkpoints of an ancestor that are removed here.
        left.extend(row.get::<_, Option<i64>>(0)?.filter(|parent| *parent < branch));
        if optional_id(row, 1)?.is_some_and(|first| first > to) {
            db.prepare_cached("DELETE FROM piece WHERE line = ?1")?.execute([branch])?;
            db.prepare_cached("DELETE FROM line WHERE id = ?1")?.execute([branch])?;
            continue;
        }
        for field in &fields {
            cut(db, branch, *field, to)?;
        }
        if new_tips.contains_key(&branch) || optional_id(row, 2)?.is_some_and(|tip| tip > to) {
            // Without a tip, the next checkpoint starts a branch.
            let tip = new_tips.get(&branch).copied().flatten().filter(|tip| *tip <= to);
            db.prepare_cached("UPDATE line SET tip = ?2 WHERE id = ?1")?
                .execute(params![branch, tip.map(IdText::from)])?;
        }
    }
    Ok(())
}

/// Removes the changes of a field on a branch after `to`.
fn cut(db: &Connection, branch: i64, field: i64, to: CheckpointId) -> Result<(), Error> {
    let bounds = params![branch, field, IdText::from(to)];
    db.prepare_cached("DELETE FROM piece WHERE line = ?1 AND field = ?2 AND first > ?3")?.execute(bounds)?;
    let mut query = db.prepare_cached(
        "SELECT id, first, entries FROM piece WHERE line = ?1 AND field = ?2 ORDER BY first DESC LIMIT 1",
    )?;
    let mut rows = query.query([branch, field])?;
    let Some(row) = rows.next()? else { return Ok(()) };
    let headers = row.get_ref(2)?.as_bytes_or_null().map_err(rusqlite::Error::from)?;
    let last = match headers {
        Some(headers) => chunk::last(headers),
        None => Some(id(row, 1)?),
    };
    match last {
        Some(last) if last <= to => Ok(()),
        Some(_) => shorten(db, row.get(0)?, to),
        None => Err(Error::corrupt("a chunk", None, "the headers of its entries are cut off")),
    }
}

/// Removes the changes after `to` from a row that has others too.
fn shorten(db: &Connection, row: i64, to: CheckpointId) -> Result<(), Error> {
    let mut query = db.prepare_cached(
        "SELECT id, first, whole, before, loose, encoding, entries, data FROM piece WHERE id = ?1",
    )?;
    let mut found = query.query_row([row], |found| Ok(change_row(found)))??;
    found.changes.retain(|change| change.checkpoint <= to);
    let mut chunk = Chunk::default();
    append_changes(&found, &mut chunk);
    // The row stays as compact as it was, so `loose` stays.
    db.prepare_cached("UPDATE piece SET encoding = ?2, entries = ?3, data = ?4 WHERE id = ?1")?.execute(
        params![row, chunk.single_encoding().map(|encoding| encoding.code()), chunk.headers(), chunk.data()],
    )?;
    Ok(())
}
