use std::sync::Arc;
use std::time::SystemTime;

use superstep_store::payload::{Encoding, Payload};
use superstep_store::store::{CorruptItem, Item, ItemKey, StoreError, Ttl};
use tokio_postgres::Row;

use crate::columns::time;

use super::ItemError;
use super::name::read_name;

/// An item and its row id.
#[derive(Debug)]
pub(super) struct StoredItem {
    pub(super) id: i64,
    pub(super) item: Item,
    pub(super) ttl: Option<Ttl>,
}

impl StoredItem {
    /// Reads an item from a row that begins with the columns `id`, `name`, `encoding`, `value`, `created`, `updated`, `ttl`
    /// and `expires`.
    pub(super) fn read(row: &Row) -> Result<Self, ItemError> {
        let at = item_key(row)?;
        let value = item_value(row, &at)?;
        let [created_at, updated_at] = [read_time(&at, row.try_get(4)?)?, read_time(&at, row.try_get(5)?)?];
        let expires_at = row.try_get::<_, Option<i64>>(7)?.map(|end| read_time(&at, end)).transpose()?;
        let ttl = read_ttl(&at, row.try_get(6)?)?;
        let ItemKey { namespace, key, .. } = at;
        let item = Item::new(namespace, key, value, created_at).updated_at(updated_at).expires_at(expires_at);
        Ok(Self { id: row.try_get(0)?, item, ttl })
    }

    /// Returns the expiry after a restart of the time to live; never earlier than before.
    fn refreshed(&self, now: SystemTime) -> Option<SystemTime> {
        let restarted = self.ttl.and_then(|ttl| ttl.end(now));
        self.item.expires_at.map(|end| restarted.map_or(end, |restarted| restarted.max(end)))
    }

    /// Restarts the time to live. Returns `true` if the expiry has changed.
    pub(super) fn refresh(&mut self, now: SystemTime) -> bool {
        let expires_at = self.refreshed(now);
        let changed = expires_at != self.item.expires_at;
        self.item.expires_at = expires_at;
        changed
    }
}

/// Returns the key of a row that begins with the columns `id` and `name`.
pub(super) fn item_key(row: &Row) -> Result<ItemKey, ItemError> {
    let why = "a name of the long-term store: it is not a namespace and a key";
    let key = read_name(row.try_get(1)?);
    key.ok_or_else(|| StoreError::corrupt(CorruptItem::new(None, None, why)).into())
}

/// Returns the value of a row that begins with the columns `id`, `name`, `encoding` and `value`.
pub(super) fn item_value(row: &Row, at: &ItemKey) -> Result<Payload, ItemError> {
    let code: i16 = row.try_get(2)?;
    let encoding = u8::try_from(code).ok().and_then(Encoding::from_code);
    let encoding = encoding.ok_or_else(|| corrupt_item(at, format!("the value: unknown encoding {code}")))?;
    Ok(Payload::new(encoding, row.try_get::<_, &[u8]>(3)?))
}

/// Returns the error of an item that cannot be read.
pub(super) fn corrupt_item(at: &ItemKey, reason: impl Into<String>) -> StoreError {
    StoreError::corrupt(CorruptItem::new(at.namespace.clone(), Arc::clone(&at.key), reason))
}

fn read_time(at: &ItemKey, millis: i64) -> Result<SystemTime, ItemError> {
    time(millis).ok_or_else(|| corrupt_item(at, "the time: it is out of range").into())
}

fn read_ttl(at: &ItemKey, millis: Option<i64>) -> Result<Option<Ttl>, ItemError> {
    let Some(millis) = millis else { return Ok(None) };
    let ttl = u64::try_from(millis).ok().and_then(Ttl::from_millis);
    ttl.map(Some).ok_or_else(|| corrupt_item(at, "the time to live: it is out of range").into())
}
