//! Helpers to write and read items.

use std::fmt::{Debug, Display};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use superstep_store::checkpoint::Page;
use superstep_store::payload::Payload;
use superstep_store::store::{
    Embedding, Found, Get, Item, ItemKey, ItemWrite, ItemWrites, Namespace, NamespaceQuery, Put, Search,
    Store, StoreError, Ttl,
};

use crate::Broken;
use crate::expect::{Expect as _, error_chain, same};

/// A store and the current time.
#[derive(Clone)]
pub(super) struct Fixture {
    pub(super) store: Arc<dyn Store>,
    pub(super) now: SystemTime,
}

impl Fixture {
    pub(super) fn new(store: Arc<dyn Store>) -> Self {
        Self { store, now: UNIX_EPOCH + Duration::from_millis(1_700_000_000_123) }
    }

    /// Returns the same store at a later time.
    pub(super) fn later(&self, seconds: u64) -> Self {
        Self { now: self.now + Duration::from_secs(seconds), ..self.clone() }
    }

    /// Writes, and returns for each write whether an item existed before.
    pub(super) async fn write(&self, writes: Vec<ItemWrite>) -> Result<Vec<bool>, Broken> {
        let count = writes.len();
        let existed =
            self.store.write(ItemWrites::new(self.now, writes)).await.works("items can be written")?;
        same("the result has one entry for each write", count, existed.len())?;
        Ok(existed)
    }

    /// Puts JSON. Returns `true` if an item existed before.
    pub(super) async fn put(&self, at: &ItemKey, json: &str) -> Result<bool, Broken> {
        Ok(self.write(vec![put(at, json)]).await? == [true])
    }

    /// Puts JSON with a time to live in seconds.
    pub(super) async fn put_for(&self, at: &ItemKey, json: &str, seconds: u64) -> Result<bool, Broken> {
        Ok(self.write(vec![put_for(at, json, seconds)]).await? == [true])
    }

    pub(super) async fn delete(&self, at: &ItemKey) -> Result<bool, Broken> {
        Ok(self.write(vec![ItemWrite::Delete(at.clone())]).await? == [true])
    }

    pub(super) async fn item(&self, at: &ItemKey) -> Result<Option<Item>, Broken> {
        Ok(self.items(vec![at.clone()], false).await?.pop().flatten())
    }

    pub(super) async fn items(&self, keys: Vec<ItemKey>, refresh: bool) -> Result<Vec<Option<Item>>, Broken> {
        let count = keys.len();
        let items =
            self.store.get(Get::new(self.now, keys).refresh(refresh)).await.works("items can be read")?;
        same("the result has one entry for each key", count, items.len())?;
        Ok(items)
    }

    /// Returns the value of an item as a string.
    pub(super) async fn read(&self, at: &ItemKey) -> Result<Option<String>, Broken> {
        Ok(self.item(at).await?.map(|item| text(&item.value)))
    }

    /// Returns a search for all items inside a namespace.
    pub(super) fn within(&self, namespace: impl Into<Namespace>) -> Search {
        Search::new(self.now, namespace)
    }

    pub(super) async fn search(&self, search: Search) -> Result<Page<Found>, Broken> {
        self.store
            .search({
                let mut changed = search;
                changed.now = self.now;
                changed
            })
            .await
            .works("a store can be searched")
    }

    /// Returns the found items and `Page::more`.
    pub(super) async fn found(&self, search: Search) -> Result<(Vec<ItemKey>, bool), Broken> {
        let page = self.search(search).await?;
        let keys = page.items.into_iter().map(|found| ItemKey::new(found.item.namespace, found.item.key));
        Ok((keys.collect(), page.more))
    }

    /// Returns the keys of the found items.
    pub(super) async fn keys(&self, search: Search) -> Result<Vec<String>, Broken> {
        Ok(self.found(search).await?.0.into_iter().map(|at| at.key.to_string()).collect())
    }

    pub(super) async fn namespaces(&self, query: NamespaceQuery) -> Result<Page<Namespace>, Broken> {
        let query = {
            let mut changed = query;
            changed.now = self.now;
            changed
        };
        self.store.namespaces(query).await.works("namespaces can be listed")
    }

    pub(super) async fn delete_expired(&self) -> Result<u64, Broken> {
        self.store.delete_expired(self.now).await.works("a store can be swept")
    }
}

pub(super) fn at(namespace: impl Into<Namespace>, key: &str) -> ItemKey {
    ItemKey::new(namespace, key)
}

pub(super) fn put(at: &ItemKey, json: &str) -> ItemWrite {
    ItemWrite::put(at.clone(), Payload::json(json))
}

pub(super) fn put_for(at: &ItemKey, json: &str, seconds: u64) -> ItemWrite {
    let ttl = Ttl::from_millis(seconds * 1_000);
    ItemWrite::Put(Box::new(Put::new(at.clone(), Payload::json(json)).ttl(ttl)))
}

pub(super) fn put_near(at: &ItemKey, json: &str, model: &str, vectors: &[&[f32]]) -> ItemWrite {
    let embedding = Embedding::new(model, vectors.iter().map(|vector| vector.to_vec()).collect()).ok();
    ItemWrite::Put(Box::new(Put::new(at.clone(), Payload::json(json)).embedding(embedding)))
}

pub(super) fn text(payload: &Payload) -> String {
    String::from_utf8_lossy(payload.bytes()).into_owned()
}

pub(super) trait CorruptAt {
    /// Checks that the call fails with an error that names the damaged item.
    fn corrupt_at(self, at: &ItemKey, promise: impl Display) -> Result<(), Broken>;
}

impl<T: Debug> CorruptAt for Result<T, StoreError> {
    fn corrupt_at(self, at: &ItemKey, promise: impl Display) -> Result<(), Broken> {
        match self {
            Err(StoreError::Corrupt(corrupt))
                if corrupt.namespace.as_ref() == Some(&at.namespace)
                    && corrupt.key.as_ref() == Some(&at.key) =>
            {
                Ok(())
            }
            Err(other) => {
                Err(Broken::new(promise, format!("`StoreError::Corrupt` of {at:?}"), error_chain(&other)))
            }
            Ok(value) => {
                Err(Broken::new(promise, format!("`StoreError::Corrupt` of {at:?}"), format!("{value:?}")))
            }
        }
    }
}
