use std::sync::Arc;
use std::time::SystemTime;

use rusqlite::Row;
use rusqlite::types::ValueRef;
use superstep_store::payload::Payload;
use superstep_store::store::{Item, ItemKey, Namespace, Ttl};

use crate::columns::{payload, text, time};
use crate::error::Error;

use super::ItemError;
use super::error::corrupt_item;

/// The columns of `store_item i` and `store_namespace n` that [`StoredItem::read`] reads.
pub(super) const ITEM_COLUMNS: &str =
    "i.id, n.place, i.key, i.encoding, i.value, i.created, i.updated, i.ttl, i.expires";

/// An item and its row id.
#[derive(Debug)]
pub(super) struct StoredItem {
    pub(super) id: i64,
    pub(super) item: Item,
    pub(super) ttl: Option<Ttl>,
}

impl StoredItem {
    /// Reads an item from a row that begins with the columns of [`ITEM_COLUMNS`].
    pub(super) fn read(row: &Row<'_>) -> Result<Self, ItemError> {
        let at = item_key(row)?;
        let rest = || -> Result<_, Error> {
            let value = payload(row, row.get(3)?, 4)?;
            let [created_at, updated_at] = [read_time(row.get(5)?)?, read_time(row.get(6)?)?];
            let expires_at = row.get::<_, Option<i64>>(8)?.map(read_time).transpose()?;
            Ok((value, created_at, updated_at, ttl(row.get(7)?)?, expires_at))
        };
        let (value, created_at, updated_at, ttl, expires_at) = rest().map_err(|error| in_item(&at, error))?;
        let ItemKey { namespace, key, .. } = at;
        Ok(Self {
            id: row.get(0)?,
            item: Item::new(namespace, key, value, created_at).updated_at(updated_at).expires_at(expires_at),
            ttl,
        })
    }

    /// Returns the expiry after a restart of the time to live; never earlier than before.
    pub(super) fn refreshed(&self, now: SystemTime) -> Option<SystemTime> {
        let restarted = self.ttl.and_then(|ttl| ttl.end(now));
        self.item.expires_at.map(|end| restarted.map_or(end, |restarted| restarted.max(end)))
    }
}

/// Returns the key of a row that begins with the columns of [`ITEM_COLUMNS`].
pub(super) fn item_key(row: &Row<'_>) -> Result<ItemKey, ItemError> {
    let namespace = read_namespace(row.get_ref(1)?)?;
    let key: Arc<str> = text(row, 2)?.into();
    Ok(ItemKey::new(namespace, key))
}

pub(super) fn read_namespace(column: ValueRef<'_>) -> Result<Namespace, Error> {
    let found = match column {
        ValueRef::Blob(key) => Namespace::from_sort_key(key),
        _ => None,
    };
    found.ok_or_else(|| {
        Error::corrupt("a namespace of the long-term store", None, "it is not a list of segments")
    })
}

/// Adds the item's key to a corruption.
pub(super) fn in_item(at: &ItemKey, error: Error) -> ItemError {
    match error {
        Error::Corrupt(corruption) => {
            corrupt_item(at, format!("{}: {}", corruption.part, corruption.reason)).into()
        }
        other => other.into(),
    }
}

fn read_time(millis: i64) -> Result<SystemTime, Error> {
    time(millis).ok_or_else(|| Error::corrupt("the time", None, "it is out of range"))
}

fn ttl(millis: Option<i64>) -> Result<Option<Ttl>, Error> {
    let Some(millis) = millis else { return Ok(None) };
    let ttl = u64::try_from(millis).ok().and_then(Ttl::from_millis);
    ttl.map(Some).ok_or_else(|| Error::corrupt("the time to live", None, "it is out of range"))
}

/// Returns the value of a row that begins with the columns of [`ITEM_COLUMNS`].
pub(super) fn item_value(row: &Row<'_>, at: &ItemKey) -> Result<Payload, ItemError> {
    let read = || payload(row, row.get(3)?, 4);
    read().map_err(|error| in_item(at, error))
}
