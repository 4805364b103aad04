use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use superstep::checkpoint::Page;
use superstep::store::{Condition, ItemKey, LongTermStore, Namespace, Search};

use superstep::payload::from_payload;
use superstep::store::{CorruptItem, StoreError};

/// The records of a list, read in batches that double in size: a caller that needs few reads few.
#[derive(Debug)]
pub(crate) struct Scan<T> {
    store: LongTermStore,
    namespace: Namespace,
    conditions: Vec<Condition>,
    /// The last item that was read. Items that move meanwhile do not shift the others.
    last: Option<ItemKey>,
    size: usize,
    done: bool,
    records: std::marker::PhantomData<fn() -> T>,
}

/// The greatest number of records that are read at once.
const MAX_BATCH: usize = 4_096;

impl<T: Serialize + DeserializeOwned> Scan<T> {
    /// Creates a scan whose first batch has up to `size` records.
    pub(super) fn new(
        store: &LongTermStore,
        namespace: Namespace,
        conditions: Vec<Condition>,
        size: usize,
    ) -> Self {
        let (store, size) = (store.clone(), size.clamp(1, MAX_BATCH));
        Self {
            store,
            namespace,
            conditions,
            last: None,
            size,
            done: false,
            records: std::marker::PhantomData,
        }
    }

    /// Begins after a key.
    pub(super) fn after(mut self, key: &str) -> Self {
        self.last = Some(ItemKey::new(self.namespace.clone(), key));
        self
    }

    /// Reads the next batch. It is empty at the end.
    ///
    /// # Errors
    /// The store fails, or a record cannot be read.
    ///
    /// # Cancel safety
    /// The call only reads.
    pub(crate) async fn next(&mut self) -> Result<Vec<T>, StoreError> {
        if self.done {
            return Ok(Vec::new());
        }
        let search = Search::new(std::time::SystemTime::now(), self.namespace.clone())
            .within(false)
            .conditions(self.conditions.clone())
            .after(self.last.clone())
            .limit(self.size);
        let Page { items, more, .. } = self.store.store().search(search).await?;
        self.done = !more;
        if let Some(last) = items.last() {
            self.last = Some(ItemKey::new(last.item.namespace.clone(), Arc::clone(&last.item.key)));
        }
        self.size = (self.size * 2).min(MAX_BATCH);
        let read = items.into_iter().map(|found| {
            from_payload(&found.item.value).map_err(|reason| {
                CorruptItem::new(found.item.namespace.clone(), found.item.key.clone(), reason.to_string())
                    .into()
            })
        });
        read.collect()
    }
}
