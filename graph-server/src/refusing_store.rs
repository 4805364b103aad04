//! A store in memory that refuses some writes, for tests of what goes on meanwhile.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use superstep::checkpoint::Page;
use superstep::store::{
    Found, Get, Item, ItemWrites, LongTermStore, MemoryStore, Namespace, NamespaceQuery, Search, Store,
    StoreError, StoreFuture,
};
use tokio::sync::{OwnedRwLockWriteGuard, RwLock};

#[derive(Clone, Default)]
pub(crate) struct RefusingStore {
    inner: MemoryStore,
    refused: Arc<Mutex<Option<String>>>,
    held: Arc<RwLock<()>>,
}

impl RefusingStore {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn long_term(&self) -> LongTermStore {
        LongTermStore::new(self.clone())
    }

    /// From now on, refuses the writes in which this text occurs; all of them if it is empty.
    pub(crate) fn refuse(&self, text: &str) {
        *self.refused.lock().unwrap() = Some(text.to_owned());
    }

    /// Lets all writes wait until the result is dropped.
    pub(crate) async fn hold(&self) -> OwnedRwLockWriteGuard<()> {
        Arc::clone(&self.held).write_owned().await
    }

    /// From now on, refuses nothing.
    pub(crate) fn accept(&self) {
        *self.refused.lock().unwrap() = None;
    }
}

impl Store for RefusingStore {
    fn get(&self, get: Get) -> StoreFuture<'_, Vec<Option<Item>>> {
        self.inner.get(get)
    }

    fn write(&self, writes: ItemWrites) -> StoreFuture<'_, Vec<bool>> {
        Box::pin(async move {
            let _free = self.held.read().await;
            let refused = self.refused.lock().unwrap().clone();
            if refused.is_some_and(|text| format!("{writes:?}").contains(&text)) {
                return Err(StoreError::backend("write", io::Error::from(io::ErrorKind::StorageFull)));
            }
            self.inner.write(writes).await
        })
    }

    fn search(&self, search: Search) -> StoreFuture<'_, Page<Found>> {
        self.inner.search(search)
    }

    fn namespaces(&self, query: NamespaceQuery) -> StoreFuture<'_, Page<Namespace>> {
        self.inner.namespaces(query)
    }

    fn delete_expired(&self, now: SystemTime) -> StoreFuture<'_, u64> {
        self.inner.delete_expired(now)
    }
}
