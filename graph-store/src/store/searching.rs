use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::time::UNIX_EPOCH;

use crate::checkpoint::Page;

use super::items::{Read, typed};
use super::{FieldPath, Found, IntoCondition, LongTermStore, Namespace, Order, Search, StoreError};

/// A search that has not been made: set options, then await it. Without any, it gives everything in the namespace and
/// further in.
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
/// [`CorruptItem`](StoreError::Corrupt) for what is found and cannot be read as this type, [`Invalid`](StoreError::Invalid) for a filter that
/// cannot be, [`NoIndex`](StoreError::NoIndex), [`OtherModel`](StoreError::OtherModel), [`Embed`](StoreError::Embed),
/// [`Backend`](StoreError::Backend).
///
/// # Cancel safety
/// It only reads, or refreshes as a whole or not at all.
#[must_use = "nothing is searched until it is awaited"]
pub struct Searching<T> {
    store: LongTermStore,
    search: Search,
    query: Option<String>,
    wrong: Option<StoreError>,
    read: Read<T>,
}

impl<T> Searching<T> {
    pub(super) fn new(store: LongTermStore, namespace: Namespace, refresh: bool, read: Read<T>) -> Self {
        // What time it is, is asked when the search is made.
        let search = Search { refresh, ..Search::within(UNIX_EPOCH, namespace) };
        Self { store, search, query: None, wrong: None, read }
    }

    /// Only items whose field, as it is called in JSON, is this value or compares so with it; see [`Condition`](super::Condition).
    /// Several filters must all be fulfilled. A list of names goes further in: `.filter(["address", "city"], "Ulm")`.
    pub fn filter(mut self, field: impl Into<FieldPath>, is: impl IntoCondition) -> Self {
        match is.into_condition(field.into()) {
            Ok(condition) => self.search.conditions.push(condition),
            Err(error) => {
                self.wrong.get_or_insert(error);
            }
        }
        self
    }

    /// The items whose meaning is nearest to this text, the nearest first; those that no index has seen are left out. What is
    /// found has a [`score`](Found::score). How it is done, and what it costs, says [`Index`](super::Index).
    pub fn query(mut self, text: impl Into<String>) -> Self {
        self.query = Some(text.into());
        self
    }

    /// Those first that were last written, instead of in the order of their names.
    pub fn newest_first(mut self) -> Self {
        self.search.order = Order::Newest;
        self
    }

    /// Only in the namespace itself, not further in.
    pub fn only_here(mut self) -> Self {
        self.search.within = false;
        self
    }

    /// Not the first so many.
    pub fn offset(mut self, offset: usize) -> Self {
        self.search.offset = offset;
        self
    }

    /// At most so many.
    pub fn limit(mut self, limit: usize) -> Self {
        self.search.limit = Some(limit);
        self
    }

    async fn find(self) -> Result<Page<Found<T>>, StoreError> {
        let Self { store, mut search, query, wrong, read } = self;
        if let Some(wrong) = wrong {
            return Err(wrong);
        }
        if let Some(query) = query {
            search.near = Some(store.near(query, &search.namespace).await?);
        }
        search.now = store.now();
        let Page { items, more } = store.store().search(search).await?;
        let items =
            items.into_iter().map(|found| Ok(Found { item: typed(found.item, read)?, score: found.score }));
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
