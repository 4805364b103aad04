use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use superstep_store::checkpoint::{
    CheckpointId, Fence, Loaded, RecordKey, RecordKind, StoredCheckpoint, StoredField, TaskRecord,
};

use crate::columns::{CHECKPOINT_COLUMNS, IdText, checkpoint, id, payload, status, text};
use crate::error::Error;

use super::changes::{Ancestor, ancestry, changes_within};
use super::room::Room;
use super::runs::RunCache;

/// Returns the fence of a namespace and one of its checkpoints.
pub(crate) fn get(
    db: &Connection,
    thread: &str,
    namespace: &str,
    wanted: Option<CheckpointId>,
) -> Result<Loaded, Error> {
    get_within(db, thread, namespace, wanted, &mut Room::unlimited())
}

/// The same for a read with a limit.
pub(crate) fn get_within(
    db: &Connection,
    thread: &str,
    namespace: &str,
    wanted: Option<CheckpointId>,
    room: &mut Room,
) -> Result<Loaded, Error> {
    let mut query = db.prepare_cached(
        "SELECT t.epoch, t.origin, n.id, \
            (SELECT c.name FROM checkpoint c WHERE c.namespace = n.id ORDER BY c.name DESC LIMIT 1), \
            t.status, t.wakes, t.rank \
         FROM thread t LEFT JOIN namespace n ON n.thread = t.id AND n.name = ?2 WHERE t.name = ?1",
    )?;
    let mut rows = query.query(params![thread, namespace])?;
    let Some(row) = rows.next()? else { return Ok(Loaded::default()) };
    let namespace: Option<i64> = row.get(2)?;
    let fence = Fence::new(row.get::<_, i64>(0)?.cast_unsigned(), None);
    let origin: Arc<str> = text(row, 1)?.into();
    let mut loaded = Loaded::new(fence, origin, None).status(status(row, 4)?);
    if let Some(namespace) = namespace {
        loaded.fence.head = crate::columns::optional_id(row, 3)?;
        if let Some(wanted) = wanted.or(loaded.fence.head) {
            loaded.found = load(db, namespace, wanted, room)?;
        }
    }
    Ok(loaded)
}

fn load(
    db: &Connection,
    namespace: i64,
    wanted: CheckpointId,
    room: &mut Room,
) -> Result<Option<StoredCheckpoint>, Error> {
    let mut query = db.prepare_cached(&format!(
        "SELECT {CHECKPOINT_COLUMNS}, c.id, c.line, coalesce(octet_length(c.progress), 0) \
         FROM checkpoint c WHERE c.namespace = ?1 AND c.name = ?2"
    ))?;
    let mut rows = query.query(params![namespace, IdText::from(wanted)])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    room.take(1, row.get(11)?)?;
    let locate = |error: Error| error.locate(|| "the checkpoint".to_owned(), Some(wanted));
    let run = RunCache::default().get(db, row.get(8)?).map_err(locate)?;
    let checkpoint = checkpoint(row, run)?;
    let fields = fields(db, namespace, &ancestry(db, row.get(10)?, wanted)?, room)?;
    let records = records_within(db, row.get(9)?, room).map_err(locate)?;
    Ok(Some(StoredCheckpoint::new(checkpoint, fields, records)))
}

fn fields(
    db: &Connection,
    namespace: i64,
    ancestry: &[Ancestor],
    room: &mut Room,
) -> Result<Vec<StoredField>, Error> {
    let mut query = db.prepare_cached("SELECT id, name FROM field WHERE namespace = ?1")?;
    let mut rows = query.query([namespace])?;
    let mut fields = Vec::new();
    while let Some(row) = rows.next()? {
        let field = text(row, 1)?.to_owned();
        let changes =
            changes_within(db, ancestry, row.get(0)?, room).map_err(|error| of_field(error, &field))?;
        if !changes.is_empty() {
            fields.push(StoredField::new(field, changes));
        }
    }
    Ok(fields)
}

/// Adds the field's name to a corruption.
pub(super) fn of_field(error: Error, field: &str) -> Error {
    match error {
        Error::Corrupt(corruption) => {
            let reason = format!("{}: {}", corruption.part, corruption.reason);
            Error::corrupt(format!("field `{field}`"), corruption.checkpoint, reason)
        }
        other => other,
    }
}

pub(super) fn records(db: &Connection, checkpoint: i64) -> Result<Vec<TaskRecord>, Error> {
    records_within(db, checkpoint, &mut Room::unlimited())
}

fn records_within(db: &Connection, checkpoint: i64, room: &mut Room) -> Result<Vec<TaskRecord>, Error> {
    let mut query = db.prepare_cached(
        "SELECT task, kind, key, encoding, payload, octet_length(payload) + octet_length(key) FROM record \
         WHERE checkpoint = ?1 ORDER BY task, kind, key",
    )?;
    let mut rows = query.query([checkpoint])?;
    let mut records = Vec::new();
    while let Some(row) = rows.next()? {
        room.take(1, row.get(5)?)?;
        records.push(record(row).map_err(|error| error.locate(|| "a record".to_owned(), None))?);
    }
    Ok(records)
}

fn record(row: &Row<'_>) -> Result<TaskRecord, Error> {
    let code: u8 = row.get(1)?;
    let kind = RecordKind::from_code(code)
        .ok_or_else(|| Error::corrupt("its kind", None, format!("unknown code {code}")))?;
    let key: Arc<str> = text(row, 2)?.into();
    Ok(TaskRecord::new(RecordKey::new(row.get(0)?, kind, key), payload(row, row.get(3)?, 4)?))
}

/// Returns the newest checkpoint of a namespace and its branch.
pub(crate) fn head(db: &Connection, namespace: i64) -> Result<Option<(CheckpointId, i64)>, Error> {
    db.prepare_cached("SELECT name, line FROM checkpoint WHERE namespace = ?1 ORDER BY name DESC LIMIT 1")?
        .query_row([namespace], |row| Ok((id(row, 0), row.get(1)?)))
        .optional()?
        .map(|(head, branch)| Ok((head?, branch)))
        .transpose()
}
