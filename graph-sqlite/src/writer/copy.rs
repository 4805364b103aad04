use std::collections::BTreeMap;
use std::sync::Arc;

use rusqlite::{Connection, params};
use superstep_store::checkpoint::CheckpointError;

use crate::trouble::Trouble;

use super::Session;
use super::delete::{find, namespaces};

/// Copies a thread with everything in it. Nothing is kept in common: either can be deleted or pruned without the other.
pub(crate) fn copy(session: &mut Session, from: &Arc<str>, to: &Arc<str>) -> Result<(), Trouble> {
    let db = &session.db;
    let Some(old) = find(db, from)? else {
        return Err(CheckpointError::NoThread { thread: from.clone() }.into());
    };
    if find(db, to)?.is_some() {
        return Err(CheckpointError::Exists { thread: to.clone() }.into());
    }
    let new = db
        .prepare_cached(
            "INSERT INTO thread (name, epoch, origin) SELECT ?2, epoch, origin FROM thread WHERE id = ?1",
        )?
        .insert(params![old, &**to])?;
    let runs = each(
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

/// Rows of the old thread, with their copies.
type Copies = BTreeMap<i64, i64>;

fn copy_namespace(db: &Connection, old: i64, new: i64, runs: &Copies) -> Result<(), Trouble> {
    let fields = each(
        db,
        "SELECT id FROM field WHERE namespace = ?1",
        old,
        "INSERT INTO field (namespace, name) SELECT ?2, name FROM field WHERE id = ?1",
        new,
    )?;
    let mut lines = Copies::new();
    for (line, parent) in pairs(db, "SELECT id, parent FROM line WHERE namespace = ?1 ORDER BY id", old)? {
        // In this order a line comes behind the one that it branched off from, and is younger in the copy as well.
        let parent = parent.map(|parent| lines.get(&parent).ok_or_else(|| missing("a line")).copied());
        let copied = db
            .prepare_cached(
                "INSERT INTO line (namespace, parent, fork, depth, tip) SELECT ?2, ?3, fork, depth, tip FROM line WHERE id = ?1",
            )?
            .insert(params![line, new, parent.transpose()?])?;
        lines.insert(line, copied);
    }
    for (line, copied) in &lines {
        let mut pieces = db.prepare_cached(
            "INSERT INTO piece (line, field, first, whole, before, loose, encoding, entries, data) \
             SELECT ?3, ?4, first, whole, before, loose, encoding, entries, data FROM piece \
             WHERE line = ?1 AND field = ?2 ORDER BY first",
        )?;
        for (field, copied_field) in &fields {
            pieces.execute([line, field, copied, copied_field])?;
        }
    }
    let checkpoints: Vec<(i64, i64, i64)> = db
        .prepare_cached("SELECT id, line, run FROM checkpoint WHERE namespace = ?1 ORDER BY name")?
        .query_map([old], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (checkpoint, line, run) in checkpoints {
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
                lines.get(&line).ok_or_else(|| missing("a checkpoint's line"))?,
                runs.get(&run).ok_or_else(|| missing("a checkpoint's run"))?,
            ])?;
        db.prepare_cached(
            "INSERT INTO record (checkpoint, task, kind, key, encoding, payload) \
             SELECT ?2, task, kind, key, encoding, payload FROM record WHERE checkpoint = ?1 ORDER BY task, kind, key",
        )?
        .execute([checkpoint, copied])?;
    }
    Ok(())
}

fn missing(what: &str) -> Trouble {
    Trouble::damaged(what, None, "it is missing")
}

fn pairs(db: &Connection, select: &str, of: i64) -> rusqlite::Result<Vec<(i64, Option<i64>)>> {
    db.prepare_cached(select)?.query_map([of], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// Copies each row that `select` finds for the old owner to the new one.
fn each(db: &Connection, select: &str, old: i64, insert: &str, new: i64) -> rusqlite::Result<Copies> {
    let rows: Vec<i64> =
        db.prepare_cached(select)?.query_map([old], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    let mut insert = db.prepare_cached(insert)?;
    rows.into_iter().map(|row| Ok((row, insert.insert([row, new])?))).collect()
}
