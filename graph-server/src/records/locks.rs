use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::OwnedMutexGuard;

/// One lock for each key that is in use. The store has no compare-and-set, so a record is only changed by the holder of
/// its lock.
#[derive(Clone, Debug)]
pub(super) struct Locks<K>(Arc<Mutex<HashMap<K, Arc<tokio::sync::Mutex<()>>>>>);

/// A lock that is held. Unused locks are removed.
#[derive(Debug)]
pub(super) struct Locked<K: Copy + Eq + Hash> {
    key: K,
    locks: Locks<K>,
    guard: Option<OwnedMutexGuard<()>>,
}

impl<K: Copy + Eq + Hash> Locks<K> {
    pub(super) fn new() -> Self {
        Self(Arc::default())
    }

    fn map(&self) -> MutexGuard<'_, HashMap<K, Arc<tokio::sync::Mutex<()>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the lock of a key.
    ///
    /// # Cancel safety
    /// A dropped call does not hold the lock.
    pub(super) async fn lock(&self, key: K) -> Locked<K> {
        // Removes the entry also if the wait is dropped.
        let mut locked = Locked { key, locks: self.clone(), guard: None };
        let lock = Arc::clone(self.map().entry(key).or_default());
        locked.guard = Some(lock.lock_owned().await);
        locked
    }
}

impl<K: Copy + Eq + Hash> Drop for Locked<K> {
    fn drop(&mut self) {
        self.guard = None;
        let mut map = self.locks.map();
        // New references are only made under the lock of the map.
        if map.get(&self.key).is_some_and(|lock| Arc::strong_count(lock) == 1) {
            map.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn a_lock_is_exclusive_and_leaves_nothing_behind() {
        let locks = Locks::new();
        let first = locks.lock(1).await;
        let other = locks.lock(2).await;
        let mut waiting = Box::pin(locks.lock(1));
        assert!((&mut waiting).now_or_never().is_none());
        drop(waiting);
        let mut second = Box::pin(locks.lock(1));
        assert!((&mut second).now_or_never().is_none());
        drop(first);
        drop(second.await);
        drop(other);
        assert_eq!(locks.map().len(), 0);
    }
}
