use rusqlite::{Connection, OptionalExtension as _, Statement, params};
use superstep_store::checkpoint::{BatchWrite, CheckpointError, CheckpointId, NewCheckpoint, WriteBatch};

use crate::chunk::Data;
use crate::stored::{Name, millis};
use crate::trouble::Trouble;

use super::filling::Filling;
use super::known::{Known, Namespace, Thread};
use super::{Session, check, lines, records};

/// Makes the writes of a batch, or refuses it before the first one.
pub(crate) fn commit(session: &mut Session, batch: &WriteBatch) -> Result<(), Trouble> {
    let Session { db, known } = session;
    check::check(db, known, batch)?;
    let thread = enter(db, known, batch)?;
    let mut filling = None;
    let mut insert = db.prepare_cached(INSERT)?;
    for write in &batch.writes {
        match write {
            BatchWrite::Checkpoint(new) => add(db, &mut insert, thread, batch, new, &mut filling)?,
            BatchWrite::Records { checkpoint, remove, put } => {
                let namespace = namespace(db, thread, batch)?;
                records::change(db, row(db, namespace, *checkpoint)?, remove, put)?;
            }
        }
    }
    match filling {
        Some(mut filling) => filling.finish(db, namespace(db, thread, batch)?),
        None => Ok(()),
    }
}

/// The thread, which is made if it is not there, in the batch's epoch.
fn enter<'k>(db: &Connection, known: &'k mut Known, batch: &WriteBatch) -> Result<&'k mut Thread, Trouble> {
    if known.thread(db, &batch.thread)?.is_none() {
        db.prepare_cached("INSERT INTO thread (name, epoch, origin) VALUES (?1, ?2, ?3)")?
            .execute(params![&*batch.thread, batch.epoch.cast_signed(), &*batch.origin])?;
    }
    let thread = known.thread(db, &batch.thread)?.ok_or_else(vanished)?;
    if thread.epoch != batch.epoch {
        db.prepare_cached("UPDATE thread SET epoch = ?2 WHERE id = ?1")?
            .execute(params![thread.id, batch.epoch.cast_signed()])?;
        thread.epoch = batch.epoch;
    }
    Ok(thread)
}

fn namespace<'t>(
    db: &Connection,
    thread: &'t mut Thread,
    batch: &WriteBatch,
) -> Result<&'t mut Namespace, Trouble> {
    if thread.namespace(db, &batch.namespace)?.is_none() {
        db.prepare_cached("INSERT INTO namespace (thread, name) VALUES (?1, ?2)")?
            .execute(params![thread.id, &*batch.namespace])?;
    }
    thread.namespace(db, &batch.namespace)?.ok_or_else(vanished)
}

fn row(db: &Connection, namespace: &Namespace, checkpoint: CheckpointId) -> Result<i64, Trouble> {
    db.prepare_cached("SELECT id FROM checkpoint WHERE namespace = ?1 AND name = ?2")?
        .query_row(params![namespace.id, Name::from(checkpoint)], |row| row.get(0))
        .optional()?
        .ok_or_else(vanished)
}

/// What was there a moment ago in the same transaction.
fn vanished() -> Trouble {
    Trouble::damaged("the file", None, "a row is gone that was there in the same transaction")
}

pub(super) const INSERT: &str = "INSERT INTO checkpoint \
    (namespace, name, line, parent, step, source, run, created, next, progress_encoding, progress) \
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";

fn add<'b>(
    db: &Connection,
    insert: &mut Statement<'_>,
    thread: &mut Thread,
    batch: &WriteBatch,
    new: &'b NewCheckpoint,
    filling: &mut Option<Filling<'b>>,
) -> Result<(), Trouble> {
    let NewCheckpoint { checkpoint, changes: pieces, records } = new;
    let run = thread.run(db, &checkpoint.run)?;
    let namespace = namespace(db, thread, batch)?;
    if let Some(filling) = filling
        && namespace.head.map(|(head, _)| head) != checkpoint.parent
    {
        // Another line may begin with what is on this one.
        filling.finish(db, namespace)?;
    }
    let line = lines::place(db, namespace, checkpoint.parent)?;
    let next = serde_json::to_string(&checkpoint.next.iter().map(|node| &**node).collect::<Vec<&str>>())
        .map_err(|error| CheckpointError::backend("write the planned nodes", error))?;
    let progress = checkpoint.progress.as_ref();
    let row = insert.insert(params![
        namespace.id,
        Name::from(checkpoint.id),
        line,
        checkpoint.parent.map(Name::from),
        checkpoint.step,
        checkpoint.source.name(),
        run,
        millis(checkpoint.created_at),
        next,
        progress.map(|progress| progress.encoding().code()),
        progress.map(Data::from),
    ])?;
    records::change(db, row, &[], records)?;
    let filling = match filling {
        Some(filling) if filling.line() == line => filling,
        other => other.insert(Filling::new(line)),
    };
    filling.push(db, namespace, checkpoint.id, pieces)?;
    namespace.head = Some((checkpoint.id, line));
    Ok(())
}
