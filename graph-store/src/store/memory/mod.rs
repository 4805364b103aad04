//! The store in memory: [`MemoryStore`]. It is also the readable model of what every store does.

mod kept;
mod shelves;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use crate::checkpoint::Page;

use super::ttl::to_the_millisecond;
use super::{
    Found, Get, Item, ItemKey, ItemWrites, Namespace, NamespaceQuery, Order, Search, Store, StoreError,
    StoreFuture,
};
use kept::Kept;
use shelves::Shelves;

/// Keeps items in memory, for tests and for what need not outlive the process.
///
/// A clone is the same store.
///
/// # Durability
/// What is written lives until the last clone is dropped.
#[derive(Clone, Default)]
pub struct MemoryStore {
    shelves: Arc<Mutex<Shelves>>,
}

/// How many expired items a write takes away with it.
const SWEPT: usize = 64;

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Every section under the lock is short and awaits nothing; what a search compares, it compares outside of it.
    fn lock(&self) -> MutexGuard<'_, Shelves> {
        self.shelves.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn found(&self, search: &Search) -> Result<Page<Found>, StoreError> {
        let now = to_the_millisecond(search.now);
        let all = self.lock().within(&search.namespace, now);
        let mut chosen: Vec<(ItemKey, Arc<Kept>, Option<f32>)> = Vec::new();
        for (at, kept) in all {
            let accepted = search.covers(&at.namespace)
                && search
                    .accepts(&kept.value)
                    .map_err(|why| StoreError::corrupt(&at.namespace, &at.key, why))?;
            if !accepted {
                continue;
            }
            match &search.near {
                None => chosen.push((at, kept, None)),
                Some(near) => {
                    if let Some(score) = kept.score(&at, near)? {
                        chosen.push((at, kept, Some(score)));
                    }
                }
            }
        }
        // They come in the order of names; both sorts keep it among equals.
        if search.order == Order::Newest {
            chosen.sort_by_key(|(_, kept, _)| std::cmp::Reverse(kept.updated_at));
        }
        if search.near.is_some() {
            chosen.sort_by(|(_, _, one), (_, _, other)| {
                other.unwrap_or_default().total_cmp(&one.unwrap_or_default())
            });
        }
        let Page { items: page, more } = page(chosen, search.offset, search.limit);
        if search.refresh {
            let mut shelves = self.lock();
            for (at, kept, _) in &page {
                shelves.refresh(at, kept, now);
            }
        }
        let shown = |(at, kept, score): (ItemKey, Arc<Kept>, Option<f32>)| {
            let expires_at = if search.refresh { kept.refreshed(now) } else { kept.expires_at };
            Found { item: kept.item(at, expires_at), score }
        };
        Ok(Page { items: page.into_iter().map(shown).collect(), more })
    }
}

/// What is behind the offset, up to the limit.
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
            let mut shelves = self.lock();
            let mut items = Vec::with_capacity(get.keys.len());
            for at in get.keys {
                items.push(shelves.find(&at, now).map(|kept| {
                    let expires_at = if get.refresh { kept.refreshed(now) } else { kept.expires_at };
                    if get.refresh {
                        shelves.refresh(&at, &kept, now);
                    }
                    kept.item(at, expires_at)
                }));
            }
            Ok(items)
        })
    }

    fn write(&self, writes: ItemWrites) -> StoreFuture<'_, Vec<bool>> {
        Box::pin(async move {
            let now = to_the_millisecond(writes.now);
            let mut shelves = self.lock();
            let were_there = writes.writes.into_iter().map(|write| shelves.write(write, now)).collect();
            shelves.sweep(now, SWEPT);
            Ok(were_there)
        })
    }

    fn search(&self, search: Search) -> StoreFuture<'_, Page<Found>> {
        Box::pin(async move { self.found(&search) })
    }

    fn namespaces(&self, query: NamespaceQuery) -> StoreFuture<'_, Page<Namespace>> {
        Box::pin(async move {
            let mut shown = self.lock().namespaces(&query);
            // They come in their order, and what begins alike is together.
            shown.dedup();
            Ok(page(shown, query.offset, query.limit))
        })
    }

    fn sweep(&self, now: SystemTime) -> StoreFuture<'_, u64> {
        Box::pin(async move { Ok(self.lock().sweep(to_the_millisecond(now), usize::MAX)) })
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").field("items", &self.lock().len()).finish()
    }
}
