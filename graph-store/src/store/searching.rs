use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use crate::checkpoint::Page;

use super::configured_store::ConfiguredStore;
use super::decode::{Decode, decode_item};
use super::{FieldPath, Found, IntoCondition, Namespace, Order, Search, StoreError};

/// A search for items. Set options, then await it.
///
/// Without options it returns all items of the namespace and of the namespaces inside it.
///
/// ```
/// # use superstep::store::{LongTermStore, MemoryStore, gte};
/// # use serde::{Deserialize, Serialize};
/// #[derive(Serialize, Deserialize)]
/// struct Memory {
///     topic: String,
///     weight: f64,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> superstep::Result<()> {
/// # let store = LongTermStore::new(MemoryStore::new());
/// let memories = store.of::<Memory>(["users", "ann"]);
/// memories.put("1", &Memory { topic: "food".into(), weight: 0.9 }).await?;
/// memories.put("2", &Memory { topic: "food".into(), weight: 0.2 }).await?;
///
/// let found = memories.search().filter("topic", "food").filter("weight", gte(0.5)).limit(10).await?;
/// assert_eq!(found.items.len(), 1);
/// assert_eq!(&*found.items[0].key, "1");
/// assert!(!found.more);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// - [`Corrupt`](StoreError::Corrupt) if a found item cannot be read as a `T`.
/// - [`Invalid`](StoreError::Invalid) if a filter is invalid.
/// - [`NoIndex`](StoreError::NoIndex) if the search has a query and the store has no index.
/// - [`OtherModel`](StoreError::OtherModel) if another model has indexed an item that meets the filters.
/// - [`Embed`](StoreError::Embed) if the embedding model fails.
/// - [`Backend`](StoreError::Backend) if the storage below the store fails.
///
/// # Cancel safety
/// The search only reads. A refresh is done as a whole or not at all.
#[must_use = "a search does nothing until it is awaited"]
pub struct Searching<T> {
    store: Arc<ConfiguredStore>,
    search: Search,
    query: Option<String>,
    error: Option<StoreError>,
    decode: Decode<T>,
}

impl<T> Searching<T> {
    pub(super) fn new(
        store: Arc<ConfiguredStore>,
        namespace: Namespace,
        refresh: bool,
        decode: Decode<T>,
    ) -> Self {
        // The time is set when the search is awaited.
        let search = Search::new(UNIX_EPOCH, namespace).refresh(refresh);
        Self { store, search, query: None, error: None, decode }
    }

    /// Keeps only items whose field meets a condition.
    ///
    /// The condition is a value that the field must equal, or a comparison such as [`gt(3)`](super::gt). The field has
    /// its JSON name. A list of names is a nested field: `.filter(["address", "city"], "Ulm")`. If there are several
    /// filters, an item must meet all of them. See [`Condition`](super::Condition) for the rules of comparison.
    pub fn filter(mut self, field: impl Into<FieldPath>, is: impl IntoCondition) -> Self {
        match is.into_condition(field.into()) {
            Ok(condition) => self.search.conditions.push(condition),
            Err(error) => {
                self.error.get_or_insert(error);
            }
        }
        self
    }

    /// Searches by meaning: returns the items whose meaning is nearest to this query, nearest first.
    ///
    /// Items without an embedding are not found. Each result has a [`score`](Found::score). See
    /// [`Index`](super::Index) for the method and its cost.
    pub fn query(mut self, text: impl Into<String>) -> Self {
        self.query = Some(text.into());
        self
    }

    /// Returns the most recently written items first, instead of in the order of names.
    pub fn newest_first(mut self) -> Self {
        self.search.order = Order::Newest;
        self
    }

    /// Searches only the namespace itself, not the namespaces inside it.
    pub fn only_here(mut self) -> Self {
        self.search.within = false;
        self
    }

    /// Skips the first `offset` results.
    pub fn offset(mut self, offset: usize) -> Self {
        self.search.offset = offset;
        self
    }

    /// Returns at most `limit` results.
    pub fn limit(mut self, limit: usize) -> Self {
        self.search.limit = Some(limit);
        self
    }

    async fn find(self) -> Result<Page<Found<T>>, StoreError> {
        let Self { store, mut search, query, error, decode } = self;
        if let Some(error) = error {
            return Err(error);
        }
        if let Some(query) = query {
            search.near = Some(store.near(query, &search.namespace).await?);
        }
        search.now = store.now();
        let Page { items, more } = store.store.search(search).await?;
        let items = items
            .into_iter()
            .map(|found| Ok(Found { item: decode_item(found.item, decode)?, score: found.score }));
        Ok(Page { items: items.collect::<Result<_, StoreError>>()?, more })
    }
}

impl<T: 'static> IntoFuture for Searching<T> {
    type Output = Result<Page<Found<T>>, StoreError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.find())
    }
}

impl<T> fmt::Debug for Searching<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Searching").field(&self.search).finish()
    }
}
