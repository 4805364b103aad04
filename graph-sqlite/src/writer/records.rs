use rusqlite::{Connection, params};
use superstep_store::checkpoint::{RecordKey, RecordKind, TaskRecord};

use crate::chunk::ColumnData;

/// Removes records of a checkpoint, then inserts others. A record with an existing key is replaced.
pub(super) fn update(
    db: &Connection,
    namespace: i64,
    checkpoint: i64,
    remove: &[RecordKey],
    put: &[TaskRecord],
) -> rusqlite::Result<()> {
    for key in remove {
        db.prepare_cached(
            "DELETE FROM record WHERE checkpoint = ?1 AND task = ?2 AND kind = ?3 AND key = ?4",
        )?
        .execute(params![checkpoint, key.task, key.kind.code(), &*key.key])?;
    }
    for TaskRecord { key, payload, .. } in put {
        db.prepare_cached(
            "INSERT INTO record (checkpoint, task, kind, key, encoding, payload, request_in) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) \
             ON CONFLICT (checkpoint, task, kind, key) DO UPDATE SET encoding = ?5, payload = ?6",
        )?
        .execute(params![
            checkpoint,
            key.task,
            key.kind.code(),
            &*key.key,
            payload.encoding().code(),
            ColumnData::from(payload),
            (key.kind == RecordKind::Request).then_some(namespace),
        ])?;
    }
    Ok(())
}
