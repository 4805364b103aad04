//! The store in memory: [`MemoryStore`]. It also serves as the reference implementation of the contract.

mod item_map;
mod stored_item;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use crate::checkpoint::Page;

use super::ttl::to_the_millisecond;
use super::{
    CorruptItem, Found, Get, Item, ItemKey, ItemWrites, Namespace, NamespaceQuery, Order, Search, Store,
    StoreError, StoreFuture,
};
use item_map::ItemMap;
use stored_item::StoredItem;

/// A long-term store in memory, for tests and for items that need not outlive the process.
///
/// A clone is a handle to the same store.
///
/// # Durability
/// Writes last until the last clone is dropped.
#[derive(Clone, Default)]
pub struct MemoryStore {
    items: Arc<Mutex<ItemMap>>,
}

/// The maximum number of expired items that a write removes.
const EXPIRED_LIMIT: usize = 64;

impl MemoryStore {
    /// Creates an empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Every section under the lock is short and does not await. A search compares items outside of the lock.
    fn lock(&self) -> MutexGuard<'_, ItemMap> {
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, search: &Search) -> Result<Page<Found>, StoreError> {
        let now = to_the_millisecond(search.now);
        let all = self.lock().within(&search.namespace, search.after.as_ref(), now);
        let mut matches: Vec<(ItemKey, Arc<StoredItem>, Option<f32>)> = Vec::new();
        for (at, item) in all {
            let accepted = search.covers(&at.namespace)
                && search
                    .accepts(&item.value)
                    .map_err(|why| CorruptItem::new(at.namespace.clone(), Arc::clone(&at.key), why))?;
            if !accepted {
                continue;
            }
            match &search.near {
                None => matches.push((at, item, None)),
                Some(near) => {
                    if let Some(score) = item.score(&at, near)? {
                        matches.push((at, item, Some(score)));
                    }
                }
            }
        }
        // The items are in the order of names. Both sorts are stable.
        if search.order == Order::Newest {
            matches.sort_by_key(|(_, item, _)| std::cmp::Reverse(item.updated_at));
        }
        if search.near.is_some() {
            matches.sort_by(|(_, _, one), (_, _, other)| {
                other.unwrap_or_default().total_cmp(&one.unwrap_or_default())
            });
        }
        let Page { items: page, more } = page(matches, search.offset, search.limit);
        if search.refresh {
            let mut map = self.lock();
            for (at, item, _) in &page {
                map.refresh(at, item, now);
            }
        }
        let result = |(at, item, score): (ItemKey, Arc<StoredItem>, Option<f32>)| {
            let expires_at = if search.refresh { item.refreshed(now) } else { item.expires_at };
            Found { item: item.item(at, expires_at), score }
        };
        Ok(Page { items: page.into_iter().map(result).collect(), more })
    }
}

/// Returns the items after the offset, up to the limit.
fn page<T>(mut items: Vec<T>, offset: usize, limit: Option<usize>) -> Page<T> {
    items.drain(..offset.min(items.len()));
    let limit = limit.unwrap_or(usize::MAX);
    let more = items.len() > limit;
    items.truncate(limit);
    Page { items, more }
}

impl Store for MemoryStore {
    fn get(&self, get: Get) -> StoreFuture<'_, Vec<Option<Item>>> {
        Box::pin(async move {
            let now = to_the_millisecond(get.now);
            let mut map = self.lock();
            let mut items = Vec::with_capacity(get.keys.len());
            for at in get.keys {
                items.push(map.find(&at, now).map(|item| {
                    let expires_at = if get.refresh { item.refreshed(now) } else { item.expires_at };
                    if get.refresh {
                        map.refresh(&at, &item, now);
                    }
                    item.item(at, expires_at)
                }));
            }
            Ok(items)
        })
    }

    fn write(&self, writes: ItemWrites) -> StoreFuture<'_, Vec<bool>> {
        Box::pin(async move {
            writes.check_limits()?;
            let now = to_the_millisecond(writes.now);
            let mut map = self.lock();
            let existed = writes.writes.into_iter().map(|write| map.write(write, now)).collect();
            map.delete_expired(now, EXPIRED_LIMIT);
            Ok(existed)
        })
    }

    fn search(&self, search: Search) -> StoreFuture<'_, Page<Found>> {
        Box::pin(async move { self.find(&search) })
    }

    fn namespaces(&self, query: NamespaceQuery) -> StoreFuture<'_, Page<Namespace>> {
        Box::pin(async move {
            let mut listed = self.lock().namespaces(&query);
            // The namespaces are sorted, so equal ones are adjacent.
            listed.dedup();
            Ok(page(listed, query.offset, query.limit))
        })
    }

    fn delete_expired(&self, now: SystemTime) -> StoreFuture<'_, u64> {
        Box::pin(async move { Ok(self.lock().delete_expired(to_the_millisecond(now), usize::MAX)) })
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").field("items", &self.lock().len()).finish()
    }
}
