use crate::payload::{Payload, Unreadable};

use super::{CorruptItem, Item, StoreError};

/// The function that decodes a stored value.
pub(super) type Decode<T> = fn(&Payload) -> Result<T, Unreadable>;

/// Decodes the value of an item.
pub(super) fn decode_item<T>(item: Item<Payload>, decode: Decode<T>) -> Result<Item<T>, StoreError> {
    let Item { namespace, key, value, created_at, updated_at, expires_at } = item;
    match decode(&value) {
        Ok(value) => Ok(Item { namespace, key, value, created_at, updated_at, expires_at }),
        Err(reason) => Err(StoreError::corrupt(CorruptItem::new(namespace, key, reason.to_string()))),
    }
}
