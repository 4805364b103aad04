use std::collections::BTreeMap;
use std::sync::Arc;

use rusqlite::{Connection, params};
use superstep_store::checkpoint::CheckpointError;

use crate::error::Error;
use crate::thread_metadata;

use super::Session;
use super::delete::{check_epoch, find_thread, namespaces};

/// Copies a thread with everything in it. The copy shares no rows with the original: either can be deleted or pruned
/// alone.
pub(crate) fn copy(
    session: &mut Session,
    from: &Arc<str>,
    to: &Arc<str>,
    epoch: Option<u64>,
) -> Result<(), Error> {
    let db = &session.db;
    let Some(old) = find_thread(db, from)? else {
        return Err(CheckpointError::no_thread(from.clone()).into());
    };
    check_epoch(db, from, old, epoch)?;
    if find_thread(db, to)?.is_some() {
        return Err(CheckpointError::exists(to.clone()).into());
    }
    let new = db
        .prepare_cached(
            "INSERT INTO thread (name, epoch, origin, status, wakes, rank) \
             SELECT ?2, epoch, origin, status, wakes, rank FROM thread WHERE id = ?1",
        )?
        .insert(params![old, &**to])?;
    thread_metadata::copy(db, old, new)?;
    let runs = copy_rows(
        db,
        "SELECT id FROM run WHERE thread = ?1",
        old,
        "INSERT INTO run (thread, name, program, metadata) SELECT ?2, name, program, metadata FROM run WHERE id = ?1",
        new,
    )?;
    for namespace in namespaces(db, old)? {
        let copied = db
            .prepare_cached(
                "INSERT INTO namespace (thread, name) SELECT ?2, name FROM namespace WHERE id = ?1",
            )?
            .insert([namespace, new])?;
        copy_namespace(db, namespace, copied, &runs)?;
    }
    Ok(())
}

/// The rows of the original, mapped to their copies.
type Copies = BTreeMap<i64, i64>;

fn copy_namespace(db: &Connection, old: i64, new: i64, runs: &Copies) -> Result<(), Error> {
    let fields = copy_rows(
        db,
        "SELECT id FROM field WHERE namespace = ?1",
        old,
        "INSERT INTO field (namespace, name) SELECT ?2, name FROM field WHERE id = ?1",
        new,
    )?;
    let mut branches = Copies::new();
    for (branch, parent) in
        ids_with_parents(db, "SELECT id, parent FROM line WHERE namespace = ?1 ORDER BY id", old)?
    {
        // This order visits a parent branch before its children, so that the copies have ascending ids too.
        let parent = parent.map(|parent| branches.get(&parent).ok_or_else(|| missing("a branch")).copied());
        let copied = db
            .prepare_cached(
                "INSERT INTO line (namespace, parent, fork, depth, tip, first) \
                 SELECT ?2, ?3, fork, depth, tip, first FROM line WHERE id = ?1",
            )?
            .insert(params![branch, new, parent.transpose()?])?;
        branches.insert(branch, copied);
    }
    for (branch, copied) in &branches {
        let mut changes = db.prepare_cached(
            "INSERT INTO piece (line, field, first, whole, before, loose, encoding, entries, data) \
             SELECT ?3, ?4, first, whole, before, loose, encoding, entries, data FROM piece \
             WHERE line = ?1 AND field = ?2 ORDER BY first",
        )?;
        for (field, copied_field) in &fields {
            changes.execute([branch, field, copied, copied_field])?;
        }
    }
    let checkpoints: Vec<(i64, i64, i64)> = db
        .prepare_cached("SELECT id, line, run FROM checkpoint WHERE namespace = ?1 ORDER BY name")?
        .query_map([old], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (checkpoint, branch, run) in checkpoints {
        let copied = db
            .prepare_cached(
                "INSERT INTO checkpoint \
                 (namespace, name, line, parent, step, source, run, created, next, progress_encoding, progress) \
                 SELECT ?2, name, ?3, parent, step, source, ?4, created, next, progress_encoding, progress \
                 FROM checkpoint WHERE id = ?1",
            )?
            .insert(params![
                checkpoint,
                new,
                branches.get(&branch).ok_or_else(|| missing("a checkpoint's branch"))?,
                runs.get(&run).ok_or_else(|| missing("a checkpoint's run"))?,
            ])?;
        db.prepare_cached(
            "INSERT INTO record (checkpoint, task, kind, key, encoding, payload, request_in) \
             SELECT ?2, task, kind, key, encoding, payload, iif(request_in IS NULL, NULL, ?3) \
             FROM record WHERE checkpoint = ?1 ORDER BY task, kind, key",
        )?
        .execute([checkpoint, copied, new])?;
    }
    Ok(())
}

fn missing(what: &str) -> Error {
    Error::corrupt(what, None, "it is missing")
}

fn ids_with_parents(db: &Connection, select: &str, of: i64) -> rusqlite::Result<Vec<(i64, Option<i64>)>> {
    db.prepare_cached(select)?.query_map([of], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// Copies each row that `select` finds for the old owner, and assigns it to the new owner.
fn copy_rows(db: &Connection, select: &str, old: i64, insert: &str, new: i64) -> rusqlite::Result<Copies> {
    let rows: Vec<i64> =
        db.prepare_cached(select)?.query_map([old], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    let mut insert = db.prepare_cached(insert)?;
    rows.into_iter().map(|row| Ok((row, insert.insert([row, new])?))).collect()
}
