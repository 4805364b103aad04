//! The cache in memory: [`MemoryCache`]. It is also the readable model of what every cache does.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use crate::payload::Payload;
use crate::store::to_the_millisecond;

use super::{Cache, CacheFuture, Clear, EntryKey, NewEntry};

/// Keeps results in memory, up to a bound.
///
/// When there are more, those go first that were not used for longest. A clone is the same cache.
///
/// # Durability
/// What is put lives until the last clone is dropped.
#[derive(Clone)]
pub struct MemoryCache {
    kept: Arc<Mutex<Kept>>,
    bound: usize,
}

/// How many expired entries a put takes away with it.
const SWEPT: usize = 64;

/// What an entry costs besides its bytes, about: its names are there three times, as pointers.
const OVERHEAD: usize = 512;

#[derive(Default)]
struct Kept {
    entries: HashMap<EntryKey, Entry>,
    /// By when they were last used: the first is the one that goes.
    used: BTreeMap<u64, EntryKey>,
    ends: BTreeSet<(SystemTime, EntryKey)>,
    uses: u64,
    bytes: usize,
}

struct Entry {
    value: Payload,
    /// Between these times it is there; always, if it has no time to live.
    lives: Option<(SystemTime, SystemTime)>,
    used: u64,
}

impl MemoryCache {
    /// An empty cache of 64 MiB at most.
    pub fn new() -> Self {
        Self::bounded(64 * 1024 * 1024)
    }

    /// An empty cache of so many bytes at most: of keys and results, and of half a kibibyte for each of them.
    pub fn bounded(bytes: usize) -> Self {
        Self { kept: Arc::default(), bound: bytes }
    }

    /// Every section under the lock is short and awaits nothing.
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for MemoryCache {
    fn default() -> Self {
        Self::new()
    }
}

impl Kept {
    fn get(&mut self, at: &EntryKey, now: SystemTime) -> Option<Payload> {
        let entry = self.entries.get_mut(at)?;
        if entry.lives.is_some_and(|(from, until)| now < from || now >= until) {
            return None;
        }
        self.uses += 1;
        if let Some(at) = self.used.remove(&std::mem::replace(&mut entry.used, self.uses)) {
            self.used.insert(self.uses, at);
        }
        Some(entry.value.clone())
    }

    fn put(&mut self, put: NewEntry, now: SystemTime) {
        let NewEntry { at, value, ttl } = put;
        self.remove(&at);
        let lives = ttl.and_then(|ttl| Some((now, ttl.end(now)?)));
        self.uses += 1;
        self.bytes += weight(&at, &value);
        self.used.insert(self.uses, at.clone());
        if let Some((_, end)) = lives {
            self.ends.insert((end, at.clone()));
        }
        self.entries.insert(at, Entry { value, lives, used: self.uses });
    }

    fn remove(&mut self, at: &EntryKey) -> bool {
        let Some((at, entry)) = self.entries.remove_entry(at) else { return false };
        self.bytes -= weight(&at, &entry.value);
        self.used.remove(&entry.used);
        if let Some((_, end)) = entry.lives {
            self.ends.remove(&(end, at));
        }
        true
    }

    /// Takes expired entries away, at most so many; how many that were.
    fn sweep(&mut self, now: SystemTime, most: usize) -> u64 {
        let ended = self.ends.iter().take_while(|(end, _)| *end <= now).take(most);
        let ended: Vec<EntryKey> = ended.map(|(_, at)| at.clone()).collect();
        ended.iter().map(|at| u64::from(self.remove(at))).sum()
    }

    fn shrink(&mut self, bound: usize) {
        while self.bytes > bound
            && let Some((_, at)) = self.used.pop_first()
        {
            self.remove(&at);
        }
    }
}

fn weight(at: &EntryKey, value: &Payload) -> usize {
    OVERHEAD + at.key.len() + value.len()
}

impl Cache for MemoryCache {
    fn get(&self, at: EntryKey, now: SystemTime) -> CacheFuture<'_, Option<Payload>> {
        Box::pin(async move { Ok(self.lock().get(&at, to_the_millisecond(now))) })
    }

    fn put(&self, puts: Vec<NewEntry>, now: SystemTime) -> CacheFuture<'_, ()> {
        Box::pin(async move {
            let now = to_the_millisecond(now);
            let mut kept = self.lock();
            puts.into_iter().for_each(|put| kept.put(put, now));
            kept.sweep(now, SWEPT);
            kept.shrink(self.bound);
            Ok(())
        })
    }

    fn clear(&self, which: Clear) -> CacheFuture<'_, u64> {
        Box::pin(async move {
            let mut kept = self.lock();
            if let Clear::Expired { now } = which {
                return Ok(kept.sweep(to_the_millisecond(now), usize::MAX));
            }
            let cleared: Vec<EntryKey> = kept.entries.keys().filter(|at| which.covers(at)).cloned().collect();
            Ok(cleared.iter().map(|at| u64::from(kept.remove(at))).sum())
        })
    }
}

impl fmt::Debug for MemoryCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kept = self.lock();
        f.debug_struct("MemoryCache")
            .field("entries", &kept.entries.len())
            .field("bytes", &kept.bytes)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::{Duration, UNIX_EPOCH};

    use super::{EntryKey, Kept, NewEntry, OVERHEAD};
    use crate::payload::Payload;
    use crate::store::Ttl;

    fn at(key: &str) -> EntryKey {
        let [graph, node, state, key] = ["g", "n", "s", key].map(Arc::from);
        EntryKey { graph, node, state, key }
    }

    fn put(kept: &mut Kept, key: &str) {
        kept.put(NewEntry { at: at(key), value: Payload::json("1"), ttl: Ttl::from_millis(10) }, UNIX_EPOCH);
    }

    fn keys(kept: &Kept) -> Vec<&str> {
        let mut keys: Vec<_> = kept.entries.keys().map(|at| &*at.key).collect();
        keys.sort_unstable();
        keys
    }

    #[test]
    fn what_was_not_used_for_longest_goes_first() {
        let mut kept = Kept::default();
        ["a", "b", "c", "d"].into_iter().for_each(|key| put(&mut kept, key));
        assert!(kept.get(&at("a"), UNIX_EPOCH).is_some());
        put(&mut kept, "b");
        kept.shrink(3 * (OVERHEAD + 2));
        assert_eq!(keys(&kept), ["a", "b", "d"]);
        kept.shrink(2 * (OVERHEAD + 2));
        assert_eq!(keys(&kept), ["a", "b"]);
        kept.shrink(0);
        assert!(kept.entries.is_empty() && kept.used.is_empty() && kept.ends.is_empty());
        assert_eq!(kept.bytes, 0);
    }

    #[test]
    fn nothing_is_left_of_what_was_replaced_or_swept() {
        let mut kept = Kept::default();
        for _ in 0..3 {
            ["a", "b"].into_iter().for_each(|key| put(&mut kept, key));
        }
        assert_eq!((kept.used.len(), kept.ends.len(), kept.bytes), (2, 2, 2 * (OVERHEAD + 2)));
        assert_eq!(kept.sweep(UNIX_EPOCH + Duration::from_millis(10), 1), 1);
        assert_eq!((kept.entries.len(), kept.used.len(), kept.ends.len()), (1, 1, 1));
    }
}
