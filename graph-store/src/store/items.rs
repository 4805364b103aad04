use std::sync::Arc;

use crate::payload::{Payload, Storable, Unstorable, from_payload, to_payload};

use super::configured_store::ConfiguredStore;
use super::decode::{Decode, decode_item};
use super::{Get, Item, ItemKey, ItemWrite, ItemWrites, Namespace, Putting, Searching, StoreError};

/// The items of a namespace, as values of one type. Returned by [`LongTermStore::of`](super::LongTermStore::of). Cheap to clone.
///
/// The type is not stored. A value that another program or an older version has put is read if it deserializes as a
/// `T`. Otherwise the read fails with an error that names the namespace, the key and the cause.
/// `of::<serde_json::Value>` reads every JSON value.
///
/// # Cancel safety
/// A call whose future is dropped is completed as a whole or has no effect.
pub struct Items<T> {
    store: Arc<ConfiguredStore>,
    namespace: Namespace,
    refresh: bool,
    encode: fn(&T) -> Result<Payload, Unstorable>,
    decode: Decode<T>,
}

impl<T: Storable> Items<T> {
    pub(super) fn new(store: Arc<ConfiguredStore>, namespace: Namespace) -> Self {
        let refresh = store.refresh;
        Self { store, namespace, refresh, encode: to_payload, decode: from_payload }
    }
}

// The bound on `T` is on `LongTermStore::of` only, so that rustc reports it once.
impl<T> Items<T> {
    /// Returns the namespace.
    pub fn namespace(&self) -> &Namespace {
        &self.namespace
    }

    /// Sets whether reads and searches restart the time to live of the returned items.
    ///
    /// The default is the setting of the store: see [`LongTermStore::refresh_on_read`](super::LongTermStore::refresh_on_read).
    #[must_use]
    pub fn refreshing(mut self, refresh: bool) -> Self {
        self.refresh = refresh;
        self
    }

    /// Returns the value of a key, or `None` if the item does not exist or has expired.
    ///
    /// # Errors
    /// - [`Corrupt`](StoreError::Corrupt) if the item cannot be read as a `T`.
    /// - [`Backend`](StoreError::Backend) if the storage below the store fails.
    pub async fn get(&self, key: impl AsRef<str>) -> Result<Option<T>, StoreError> {
        Ok(self.item(key).await?.map(|item| item.value))
    }

    /// Returns the item of a key: the value with its times.
    ///
    /// # Errors
    /// The same as for [`get`](Self::get).
    pub async fn item(&self, key: impl AsRef<str>) -> Result<Option<Item<T>>, StoreError> {
        let mut found = self.items([key]).await?;
        Ok(found.pop().flatten())
    }

    /// Returns the items of several keys, as of one moment and in the order of the keys.
    ///
    /// # Errors
    /// The same as for [`get`](Self::get).
    pub async fn items<K: AsRef<str>>(
        &self,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<Vec<Option<Item<T>>>, StoreError> {
        let keys = keys.into_iter().map(|key| ItemKey::new(&self.namespace, key.as_ref())).collect();
        let get = Get { now: self.store.now(), keys, refresh: self.refresh };
        let found = self.store.store.get(get).await?;
        found.into_iter().map(|item| item.map(|item| decode_item(item, self.decode)).transpose()).collect()
    }

    /// Puts a value under a key. It replaces the existing item.
    ///
    /// ```
    /// # use superstep::store::{LongTermStore, MemoryStore};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> superstep::Result<()> {
    /// # let store = LongTermStore::new(MemoryStore::new());
    /// let error = store.of::<f64>("weather").put("today", &f64::NAN).await.unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     r#"the value for item `today` of namespace ["weather"] cannot be stored: JSON cannot represent NaN or infinity"#
    /// );
    /// # Ok(())
    /// # }
    /// ```
    pub fn put(&self, key: impl AsRef<str>, value: &T) -> Putting {
        let at = ItemKey::new(&self.namespace, key.as_ref());
        let value = (self.encode)(value).map_err(|unstorable| {
            StoreError::not_storable(at.namespace.clone(), Arc::clone(&at.key), unstorable.to_string())
        });
        Putting::new(Arc::clone(&self.store), at, value)
    }

    /// Deletes the item of a key. Returns `false` if the item does not exist.
    ///
    /// # Errors
    /// [`Backend`](StoreError::Backend) if the storage below the store fails.
    pub async fn delete(&self, key: impl AsRef<str>) -> Result<bool, StoreError> {
        let writes = vec![ItemWrite::Delete(ItemKey::new(&self.namespace, key.as_ref()))];
        let existed = self.store.store.write(ItemWrites { now: self.store.now(), writes }).await?;
        Ok(existed.first().copied().unwrap_or_default())
    }

    /// Creates a search for items in this namespace and the namespaces inside it.
    pub fn search(&self) -> Searching<T> {
        Searching::new(Arc::clone(&self.store), self.namespace.clone(), self.refresh, self.decode)
    }
}

impl<T> Clone for Items<T> {
    fn clone(&self) -> Self {
        Self { store: Arc::clone(&self.store), namespace: self.namespace.clone(), ..*self }
    }
}

impl<T> std::fmt::Debug for Items<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Items").field(&self.namespace).finish()
    }
}
