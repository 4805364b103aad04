use std::collections::BTreeSet;
use std::time::Instant;

use rusqlite::{Connection, OptionalExtension as _, Statement, params};
use superstep_store::checkpoint::{BatchWrite, CheckpointError, CheckpointId, NewCheckpoint, WriteBatch};

use crate::chunk::ColumnData;
use crate::columns::{IdText, millis, status_columns};
use crate::error::Error;
use crate::thread_metadata;

use super::batch_buffer::BatchBuffer;
use super::row_cache::{CachedNamespace, CachedThread, RowCache};
use super::{Session, branches, check, records, roll_back};

/// Writes a batch, or refuses it before the first write.
pub(crate) fn commit(session: &mut Session, batch: &WriteBatch) -> Result<(), Error> {
    let Session { db, row_cache, .. } = session;
    check::check(db, row_cache, batch)?;
    let thread = find_or_insert_thread(db, row_cache, batch)?;
    let mut buffer = None;
    let mut removed_runs = BTreeSet::new();
    let mut root_is_rolled_back = false;
    let mut insert = db.prepare_cached(INSERT_CHECKPOINT)?;
    for write in &batch.writes {
        match write {
            BatchWrite::Checkpoint(new) => {
                insert_checkpoint(db, &mut insert, thread, batch, new, &mut buffer)?;
            }
            BatchWrite::Records { checkpoint, remove, put, .. } => {
                let namespace = find_or_insert_namespace(db, thread, batch)?;
                let row = checkpoint_row(db, namespace, *checkpoint)?;
                records::update(db, namespace.id, row, remove, put)?;
            }
            BatchWrite::RollBack { namespace, to, .. } => {
                if let Some(mut buffer) = buffer.take() {
                    BatchBuffer::finish(&mut buffer, db, find_or_insert_namespace(db, thread, batch)?)?;
                }
                removed_runs.extend(roll_back::roll_back(db, thread, namespace, *to)?);
                root_is_rolled_back |= namespace.is_empty();
            }
        }
    }
    if let Some(mut buffer) = buffer {
        buffer.finish(db, find_or_insert_namespace(db, thread, batch)?)?;
    }
    // The check visits every namespace of the thread.
    if root_is_rolled_back {
        thread_metadata::refresh(db, thread.id)?;
        roll_back::collect_runs(db, thread.id, &removed_runs)?;
    }
    Ok(())
}

/// Returns the thread in the batch's epoch and status. Inserts it if it does not exist.
fn find_or_insert_thread<'k>(
    db: &Connection,
    row_cache: &'k mut RowCache,
    batch: &WriteBatch,
) -> Result<&'k mut CachedThread, Error> {
    let epoch = batch.epoch.cast_signed();
    if row_cache.thread(db, &batch.thread)?.is_none() {
        let (status, wakes, rank) = status_columns(batch.status.unwrap_or_default());
        db.prepare_cached(
            "INSERT INTO thread (name, epoch, origin, status, wakes, rank) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![&*batch.thread, epoch, &*batch.origin, status, wakes, rank])?;
        return row_cache.thread(db, &batch.thread)?.ok_or_else(row_vanished);
    }
    let thread = row_cache.thread(db, &batch.thread)?.ok_or_else(row_vanished)?;
    let status = batch.status.map_or(thread.status, status_columns);
    // Nearly every superstep leaves its thread as it is.
    if (thread.epoch, thread.status) != (batch.epoch, status) {
        db.prepare_cached("UPDATE thread SET epoch = ?2, status = ?3, wakes = ?4, rank = ?5 WHERE id = ?1")?
            .execute(params![thread.id, epoch, status.0, status.1, status.2])?;
        if thread.status.2 != status.2 {
            db.prepare_cached("UPDATE thread_metadata SET rank = ?2 WHERE thread = ?1")?
                .execute([thread.id, status.2])?;
        }
        (thread.epoch, thread.status) = (batch.epoch, status);
    }
    Ok(thread)
}

fn find_or_insert_namespace<'t>(
    db: &Connection,
    thread: &'t mut CachedThread,
    batch: &WriteBatch,
) -> Result<&'t mut CachedNamespace, Error> {
    if thread.namespace(db, &batch.namespace)?.is_none() {
        db.prepare_cached("INSERT INTO namespace (thread, name) VALUES (?1, ?2)")?
            .execute(params![thread.id, &*batch.namespace])?;
    }
    thread.namespace(db, &batch.namespace)?.ok_or_else(row_vanished)
}

fn checkpoint_row(
    db: &Connection,
    namespace: &CachedNamespace,
    checkpoint: CheckpointId,
) -> Result<i64, Error> {
    db.prepare_cached("SELECT id FROM checkpoint WHERE namespace = ?1 AND name = ?2")?
        .query_row(params![namespace.id, IdText::from(checkpoint)], |row| row.get(0))
        .optional()?
        .ok_or_else(row_vanished)
}

/// Returns the error for a row that existed earlier in the same transaction.
fn row_vanished() -> Error {
    Error::corrupt("the file", None, "a row disappeared during the transaction")
}

pub(super) const INSERT_CHECKPOINT: &str = "INSERT INTO checkpoint \
    (namespace, name, line, parent, step, source, run, created, next, progress_encoding, progress) \
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";

fn insert_checkpoint<'b>(
    db: &Connection,
    insert: &mut Statement<'_>,
    thread: &mut CachedThread,
    batch: &WriteBatch,
    new: &'b NewCheckpoint,
    buffer: &mut Option<BatchBuffer<'b>>,
) -> Result<(), Error> {
    let NewCheckpoint { checkpoint, changes, records, .. } = new;
    let run = thread.run(db, &checkpoint.run)?;
    if batch.namespace.is_empty() && thread.indexed_run(db)? != Some(run) {
        thread_metadata::replace(db, thread.id, &checkpoint.run.metadata)?;
        thread.indexed_run = Some(run);
    }
    let namespace = find_or_insert_namespace(db, thread, batch)?;
    if let Some(buffer) = buffer
        && namespace.head.map(|(head, _)| head) != checkpoint.parent
    {
        // Another branch may start from changes that are still in the buffer.
        buffer.finish(db, namespace)?;
    }
    let branch = branches::branch_for(db, namespace, checkpoint.id, checkpoint.parent)?;
    let next = serde_json::to_string(&checkpoint.next.iter().map(|node| &**node).collect::<Vec<&str>>())
        .map_err(|error| CheckpointError::backend("write the planned nodes", error))?;
    let progress = checkpoint.progress.as_ref();
    let row = insert.insert(params![
        namespace.id,
        IdText::from(checkpoint.id),
        branch,
        checkpoint.parent.map(IdText::from),
        checkpoint.step,
        checkpoint.source.name(),
        run,
        millis(checkpoint.created_at),
        next,
        progress.map(|progress| progress.encoding().code()),
        progress.map(ColumnData::from),
    ])?;
    records::update(db, namespace.id, row, &[], records)?;
    let buffer = match buffer {
        Some(buffer) if buffer.branch() == branch => buffer,
        other => other.insert(BatchBuffer::new(branch)),
    };
    buffer.push(db, namespace, checkpoint.id, changes)?;
    namespace.head = Some((checkpoint.id, branch));
    namespace.written = Some(Instant::now());
    Ok(())
}
