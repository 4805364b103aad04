use std::time::SystemTime;

use rusqlite::{Connection, params};
use superstep_store::store::{Get, Item, ItemKey};

use crate::columns::millis;

use super::ItemError;
use super::row::{ITEM_COLUMNS, StoredItem};

/// Returns the requested items, and the rows whose time to live must restart.
pub(crate) fn get(db: &Connection, get: &Get) -> Result<(Vec<Option<Item>>, Vec<i64>), ItemError> {
    let mut refreshed = Vec::new();
    let mut items = Vec::with_capacity(get.keys.len());
    for at in &get.keys {
        let Some(mut stored) = find(db, at, get.now)? else {
            items.push(None);
            continue;
        };
        if get.refresh {
            let expires_at = stored.refreshed(get.now);
            if expires_at != stored.item.expires_at {
                stored.item.expires_at = expires_at;
                refreshed.push(stored.id);
            }
        }
        items.push(Some(stored.item));
    }
    Ok((items, refreshed))
}

fn find(db: &Connection, at: &ItemKey, now: SystemTime) -> Result<Option<StoredItem>, ItemError> {
    let mut query = db.prepare_cached(&format!(
        "SELECT {ITEM_COLUMNS} FROM store_namespace n JOIN store_item i ON i.namespace = n.id \
         WHERE n.place = ?1 AND i.key = ?2 AND (i.expires IS NULL OR i.expires > ?3)"
    ))?;
    let mut rows = query.query(params![at.namespace.sort_key(), &*at.key, millis(now)])?;
    rows.next()?.map(StoredItem::read).transpose()
}

/// Restarts the time to live of these rows. Skips rows that were deleted, and never shortens a lifetime.
pub(crate) fn refresh(db: &Connection, rows: &[i64], now: SystemTime) -> Result<(), ItemError> {
    let mut refresh = db.prepare_cached(
        "UPDATE store_item SET expires = max(expires, ?2 + ttl) WHERE id = ?1 AND ttl IS NOT NULL AND expires > ?2",
    )?;
    for row in rows {
        refresh.execute([*row, millis(now)])?;
    }
    Ok(())
}
