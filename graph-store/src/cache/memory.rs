//! The cache in memory: [`MemoryCache`]. It also serves as the reference implementation of the contract.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use crate::payload::Payload;
use crate::store::to_the_millisecond;

use super::{Cache, CacheFuture, Clear, EntryKey, NewEntry};

/// A cache in memory of limited size.
///
/// When it is full, it drops the least recently used entries. A clone is a handle to the same cache.
///
/// # Durability
/// Entries last at most until the last clone is dropped.
#[derive(Clone)]
pub struct MemoryCache {
    entries: Arc<Mutex<Entries>>,
    max_bytes: usize,
}

/// The maximum number of expired entries that a put removes.
const EXPIRED_LIMIT: usize = 64;

/// The approximate size of an entry without its key and value. Its names are stored three times, as pointers.
const OVERHEAD: usize = 512;

#[derive(Default)]
struct Entries {
    by_key: HashMap<EntryKey, Entry>,
    /// By last use. The first entry is dropped first.
    by_last_use: BTreeMap<u64, EntryKey>,
    expirations: BTreeSet<(SystemTime, EntryKey)>,
    use_count: u64,
    bytes: usize,
}

struct Entry {
    value: Payload,
    /// The first time at which the entry exists, and the first at which it does not. `None` if it does not expire.
    lifetime: Option<(SystemTime, SystemTime)>,
    last_used: u64,
}

impl MemoryCache {
    /// Creates an empty cache of at most 64 MiB.
    pub fn new() -> Self {
        Self::bounded(64 * 1024 * 1024)
    }

    /// Creates an empty cache of at most this many bytes.
    ///
    /// An entry counts as the bytes of its key and its result plus 512 bytes.
    pub fn bounded(bytes: usize) -> Self {
        Self { entries: Arc::default(), max_bytes: bytes }
    }

    /// Every section under the lock is short and does not await.
    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for MemoryCache {
    fn default() -> Self {
        Self::new()
    }
}

impl Entries {
    fn get(&mut self, at: &EntryKey, now: SystemTime) -> Option<Payload> {
        let entry = self.by_key.get_mut(at)?;
        if entry.lifetime.is_some_and(|(from, until)| now < from || now >= until) {
            return None;
        }
        self.use_count += 1;
        if let Some(at) = self.by_last_use.remove(&std::mem::replace(&mut entry.last_used, self.use_count)) {
            self.by_last_use.insert(self.use_count, at);
        }
        Some(entry.value.clone())
    }

    fn put(&mut self, put: NewEntry, now: SystemTime) {
        let NewEntry { at, value, ttl } = put;
        self.remove(&at);
        let lifetime = ttl.and_then(|ttl| Some((now, ttl.end(now)?)));
        self.use_count += 1;
        self.bytes += weight(&at, &value);
        self.by_last_use.insert(self.use_count, at.clone());
        if let Some((_, end)) = lifetime {
            self.expirations.insert((end, at.clone()));
        }
        self.by_key.insert(at, Entry { value, lifetime, last_used: self.use_count });
    }

    fn remove(&mut self, at: &EntryKey) -> bool {
        let Some((at, entry)) = self.by_key.remove_entry(at) else { return false };
        self.bytes -= weight(&at, &entry.value);
        self.by_last_use.remove(&entry.last_used);
        if let Some((_, end)) = entry.lifetime {
            self.expirations.remove(&(end, at));
        }
        true
    }

    /// Deletes at most `limit` expired entries, and returns their number.
    fn delete_expired(&mut self, now: SystemTime, limit: usize) -> u64 {
        let expired = self.expirations.iter().take_while(|(end, _)| *end <= now).take(limit);
        let expired: Vec<EntryKey> = expired.map(|(_, at)| at.clone()).collect();
        expired.iter().map(|at| u64::from(self.remove(at))).sum()
    }

    fn shrink(&mut self, max_bytes: usize) {
        while self.bytes > max_bytes
            && let Some((_, at)) = self.by_last_use.pop_first()
        {
            self.remove(&at);
        }
    }
}

fn weight(at: &EntryKey, value: &Payload) -> usize {
    OVERHEAD + at.key.len() + value.len()
}

#[diagnostic::do_not_recommend]
impl Cache for MemoryCache {
    fn get(&self, at: EntryKey, now: SystemTime) -> CacheFuture<'_, Option<Payload>> {
        Box::pin(async move { Ok(self.lock().get(&at, to_the_millisecond(now))) })
    }

    fn put(&self, puts: Vec<NewEntry>, now: SystemTime) -> CacheFuture<'_, ()> {
        Box::pin(async move {
            puts.iter().try_for_each(NewEntry::check_limits)?;
            let now = to_the_millisecond(now);
            let mut entries = self.lock();
            puts.into_iter().for_each(|put| entries.put(put, now));
            entries.delete_expired(now, EXPIRED_LIMIT);
            entries.shrink(self.max_bytes);
            Ok(())
        })
    }

    fn clear(&self, which: Clear) -> CacheFuture<'_, u64> {
        Box::pin(async move {
            let mut entries = self.lock();
            if let Clear::Expired { now } = which {
                return Ok(entries.delete_expired(to_the_millisecond(now), usize::MAX));
            }
            let cleared: Vec<EntryKey> =
                entries.by_key.keys().filter(|at| which.covers(at)).cloned().collect();
            Ok(cleared.iter().map(|at| u64::from(entries.remove(at))).sum())
        })
    }
}

impl fmt::Debug for MemoryCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries = self.lock();
        f.debug_struct("MemoryCache")
            .field("entries", &entries.by_key.len())
            .field("bytes", &entries.bytes)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::{Duration, UNIX_EPOCH};

    use super::{Entries, EntryKey, NewEntry, OVERHEAD};
    use crate::payload::Payload;
    use crate::store::Ttl;

    fn at(key: &str) -> EntryKey {
        let [graph, node, state, key] = ["g", "n", "s", key].map(Arc::from);
        EntryKey { graph, node, state, key }
    }

    fn put(entries: &mut Entries, key: &str) {
        entries
            .put(NewEntry { at: at(key), value: Payload::json("1"), ttl: Ttl::from_millis(10) }, UNIX_EPOCH);
    }

    fn keys(entries: &Entries) -> Vec<&str> {
        let mut keys: Vec<_> = entries.by_key.keys().map(|at| &*at.key).collect();
        keys.sort_unstable();
        keys
    }

    #[test]
    fn least_recently_used_entry_is_removed_first() {
        let mut entries = Entries::default();
        ["a", "b", "c", "d"].into_iter().for_each(|key| put(&mut entries, key));
        assert!(entries.get(&at("a"), UNIX_EPOCH).is_some());
        put(&mut entries, "b");
        entries.shrink(3 * (OVERHEAD + 2));
        assert_eq!(keys(&entries), ["a", "b", "d"]);
        entries.shrink(2 * (OVERHEAD + 2));
        assert_eq!(keys(&entries), ["a", "b"]);
        entries.shrink(0);
        assert!(
            entries.by_key.is_empty() && entries.by_last_use.is_empty() && entries.expirations.is_empty()
        );
        assert_eq!(entries.bytes, 0);
    }

    #[test]
    fn replaced_and_expired_entries_leave_nothing_behind() {
        let mut entries = Entries::default();
        for _ in 0..3 {
            ["a", "b"].into_iter().for_each(|key| put(&mut entries, key));
        }
        assert_eq!(
            (entries.by_last_use.len(), entries.expirations.len(), entries.bytes),
            (2, 2, 2 * (OVERHEAD + 2))
        );
        assert_eq!(entries.delete_expired(UNIX_EPOCH + Duration::from_millis(10), 1), 1);
        assert_eq!((entries.by_key.len(), entries.by_last_use.len(), entries.expirations.len()), (1, 1, 1));
    }
}
