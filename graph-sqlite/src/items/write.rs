use std::time::SystemTime;

use rusqlite::{Connection, OptionalExtension as _, params};
use superstep_store::store::{Embedding, ItemWrite, ItemWrites, Namespace, Put};

use crate::chunk::ColumnData;
use crate::columns::millis;

use super::ItemError;

/// The maximum number of expired items that one write deletes.
const EXPIRED_LIMIT: i64 = 64;

/// Runs the writes. Returns for each whether the item existed before it.
pub(crate) fn write(db: &Connection, writes: &ItemWrites) -> Result<Vec<bool>, ItemError> {
    let mut were_there = Vec::with_capacity(writes.writes.len());
    for write in &writes.writes {
        were_there.push(match write {
            ItemWrite::Put(item) => put(db, item, writes.now)?,
            ItemWrite::Delete(at) => delete(db, &at.namespace, &at.key, writes.now)?,
        });
    }
    delete_expired(db, millis(writes.now), EXPIRED_LIMIT)?;
    Ok(were_there)
}

/// Returns the segments of a namespace as JSON, for people.
fn display_name(namespace: &Namespace) -> String {
    let segments: Vec<&str> = namespace.segments().iter().map(|segment| &**segment).collect();
    serde_json::Value::from(segments).to_string()
}

fn put(db: &Connection, put: &Put, now: SystemTime) -> Result<bool, ItemError> {
    let now_millis = millis(now);
    let namespace = match find_namespace(db, &put.at.namespace)? {
        Some(namespace) => namespace,
        None => db
            .prepare_cached("INSERT INTO store_namespace (place, name) VALUES (?1, ?2)")?
            .insert(params![put.at.namespace.sort_key(), display_name(&put.at.namespace)])?,
    };
    let before = find_item(db, namespace, &put.at.key)?;
    let ttl = put.ttl.map(|ttl| i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX));
    let expires = ttl.and_then(|ttl| now_millis.checked_add(ttl));
    let (encoding, value) = (put.value.encoding().code(), ColumnData::from(&put.value));
    let was_there = before.is_some_and(|(_, expires)| is_live(expires, now_millis));
    let item = match before {
        Some((item, _)) => {
            db.prepare_cached(
                "UPDATE store_item SET encoding = ?2, value = ?3, created = iif(?7, created, ?4), updated = ?4, ttl = ?5, \
                 expires = ?6 WHERE id = ?1",
            )?
            .execute(params![item, encoding, value, now_millis, ttl, expires, was_there])?;
            delete_vectors(db, item)?;
            item
        }
        None => db
            .prepare_cached(
                "INSERT INTO store_item (namespace, key, encoding, value, created, updated, ttl, expires) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6, ?7)",
            )?
            .insert(params![namespace, &*put.at.key, encoding, value, now_millis, ttl, expires])?,
    };
    if let Some(embedding) = &put.embedding {
        insert_vectors(db, item, embedding)?;
    }
    Ok(was_there)
}

fn insert_vectors(db: &Connection, item: i64, embedding: &Embedding) -> Result<(), ItemError> {
    let mut insert =
        db.prepare_cached("INSERT INTO store_vector (item, nth, model, data) VALUES (?1, ?2, ?3, ?4)")?;
    for (nth, vector) in embedding.vectors().iter().enumerate() {
        let data: Vec<u8> = vector.iter().flat_map(|number| number.to_le_bytes()).collect();
        insert.execute(params![item, i64::try_from(nth).unwrap_or(i64::MAX), &**embedding.model(), data])?;
    }
    Ok(())
}

fn delete(db: &Connection, namespace: &Namespace, key: &str, now: SystemTime) -> Result<bool, ItemError> {
    let Some(namespace) = find_namespace(db, namespace)? else { return Ok(false) };
    let Some((item, expires)) = find_item(db, namespace, key)? else { return Ok(false) };
    remove(db, item, namespace)?;
    Ok(is_live(expires, millis(now)))
}

/// Deletes at most `max` expired items. Returns the number of deleted items.
pub(super) fn delete_expired(db: &Connection, now: i64, max: i64) -> Result<u64, ItemError> {
    let mut query = db.prepare_cached(
        "SELECT id, namespace FROM store_item WHERE expires <= ?1 ORDER BY expires LIMIT ?2",
    )?;
    let ended: Vec<(i64, i64)> =
        query.query_map([now, max], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
    for (item, namespace) in &ended {
        remove(db, *item, *namespace)?;
    }
    Ok(ended.len() as u64)
}

/// Deletes an item with its vectors, and its namespace if that is empty now.
fn remove(db: &Connection, item: i64, namespace: i64) -> Result<(), ItemError> {
    delete_vectors(db, item)?;
    db.prepare_cached("DELETE FROM store_item WHERE id = ?1")?.execute([item])?;
    db.prepare_cached(
        "DELETE FROM store_namespace WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM store_item WHERE namespace = ?1)",
    )?
    .execute([namespace])?;
    Ok(())
}

fn delete_vectors(db: &Connection, item: i64) -> Result<(), ItemError> {
    db.prepare_cached("DELETE FROM store_vector WHERE item = ?1")?.execute([item])?;
    Ok(())
}

fn find_namespace(db: &Connection, namespace: &Namespace) -> rusqlite::Result<Option<i64>> {
    db.prepare_cached("SELECT id FROM store_namespace WHERE place = ?1")?
        .query_row([namespace.sort_key()], |row| row.get(0))
        .optional()
}

/// Returns the row of an item and its expiry.
fn find_item(db: &Connection, namespace: i64, key: &str) -> rusqlite::Result<Option<(i64, Option<i64>)>> {
    db.prepare_cached("SELECT id, expires FROM store_item WHERE namespace = ?1 AND key = ?2")?
        .query_row(params![namespace, key], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
}

fn is_live(expires: Option<i64>, now: i64) -> bool {
    expires.is_none_or(|expires| expires > now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn display_name_is_json() {
        assert_eq!(display_name(&["a\"", "\0"].into()), r#"["a\"","\u0000"]"#);
    }
}
