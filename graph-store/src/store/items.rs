use std::sync::Arc;

use crate::payload::{Payload, Storable, Unreadable, Unstorable, from_payload, to_payload};

use super::{
    Get, Item, ItemKey, ItemWrite, ItemWrites, LongTermStore, Namespace, Putting, Searching, StoreError,
};

/// The items of a namespace, as values of one type; made by [`LongTermStore::of`]. Cheap to clone.
///
/// Nothing is kept of the type: a value that another program has put there, or an older version of this one, is read if it
/// has the form, and is an error otherwise that names namespace, key and cause. With `of::<serde_json::Value>` everything
/// can be read that is JSON.
///
/// # Cancel safety
/// Each call is done as a whole or not at all.
pub struct Items<T> {
    store: LongTermStore,
    namespace: Namespace,
    refresh: bool,
    write: fn(&T) -> Result<Payload, Unstorable>,
    read: Read<T>,
}

/// How a stored value becomes one of its type; in words why it does not.
pub(super) type Read<T> = fn(&Payload) -> Result<T, Unreadable>;

impl<T: Storable> Items<T> {
    pub(super) fn new(store: LongTermStore, namespace: Namespace, refresh: bool) -> Self {
        Self { store, namespace, refresh, write: to_payload, read: from_payload }
    }
}

// What `T` must be is asked where its items are, so that rustc says it once.
impl<T> Items<T> {
    /// The namespace.
    pub fn namespace(&self) -> &Namespace {
        &self.namespace
    }

    /// Whether what is read through this, or found by a search, begins its time to live anew; otherwise as the store
    /// [says](LongTermStore::refresh_on_read).
    #[must_use]
    pub fn refreshing(mut self, refresh: bool) -> Self {
        self.refresh = refresh;
        self
    }

    /// The value of a key; `None` if there is none, or its time is up.
    ///
    /// # Errors
    /// [`CorruptItem`](StoreError::Corrupt) for one that cannot be read as this type, [`Backend`](StoreError::Backend).
    pub async fn get(&self, key: impl AsRef<str>) -> Result<Option<T>, StoreError> {
        Ok(self.item(key).await?.map(|item| item.value))
    }

    /// The item of a key: its value, and when it was written.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub async fn item(&self, key: impl AsRef<str>) -> Result<Option<Item<T>>, StoreError> {
        let mut found = self.items([key]).await?;
        Ok(found.pop().flatten())
    }

    /// The items of several keys, as of one moment and in their order.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub async fn items<K: AsRef<str>>(
        &self,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<Vec<Option<Item<T>>>, StoreError> {
        let keys = keys.into_iter().map(|key| ItemKey::new(&self.namespace, key)).collect();
        let get = Get { now: self.store.now(), keys, refresh: self.refresh };
        let found = self.store.store().get(get).await?;
        found.into_iter().map(|item| item.map(|item| typed(item, self.read)).transpose()).collect()
    }

    /// Puts a value under a key, in the place of the one that is there.
    ///
    /// ```
    /// # use superstep::store::{LongTermStore, MemoryStore};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> superstep::Result<()> {
    /// # let store = LongTermStore::new(MemoryStore::new());
    /// let error = store.of::<f64>("weather").put("today", &f64::NAN).await.unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     r#"the value for item `today` of namespace ["weather"] cannot be stored: JSON cannot represent a number that is not finite"#
    /// );
    /// # Ok(())
    /// # }
    /// ```
    pub fn put(&self, key: impl AsRef<str>, value: &T) -> Putting {
        let at = ItemKey::new(&self.namespace, key);
        let value = (self.write)(value).map_err(|unstorable| StoreError::NotStorable {
            namespace: at.namespace.clone(),
            key: Arc::clone(&at.key),
            reason: unstorable.to_string(),
        });
        Putting::new(self.store.clone(), at, value)
    }

    /// Takes the item of a key away; `false` if there was none.
    ///
    /// # Errors
    /// [`Backend`](StoreError::Backend).
    pub async fn delete(&self, key: impl AsRef<str>) -> Result<bool, StoreError> {
        let writes = vec![ItemWrite::Delete(ItemKey::new(&self.namespace, key))];
        let was_there = self.store.store().write(ItemWrites { now: self.store.now(), writes }).await?;
        Ok(was_there.first().copied().unwrap_or_default())
    }

    /// Looks for items in this namespace and further in.
    pub fn search(&self) -> Searching<T> {
        Searching::new(self.store.clone(), self.namespace.clone(), self.refresh, self.read)
    }
}

/// An item as a value of its type.
pub(super) fn typed<T>(item: Item<Payload>, read: Read<T>) -> Result<Item<T>, StoreError> {
    let Item { namespace, key, value, created_at, updated_at, expires_at } = item;
    match read(&value) {
        Ok(value) => Ok(Item { namespace, key, value, created_at, updated_at, expires_at }),
        Err(reason) => Err(StoreError::corrupt(&namespace, &key, reason.to_string())),
    }
}

impl<T> Clone for Items<T> {
    fn clone(&self) -> Self {
        Self { store: self.store.clone(), namespace: self.namespace.clone(), ..*self }
    }
}

impl<T> std::fmt::Debug for Items<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Items").field(&self.namespace).finish()
    }
}
