use std::sync::Arc;
use std::time::Duration;

use crate::payload::Payload;

use super::configured_store::ConfiguredStore;
use super::{FieldPath, ItemKey, Put, StoreError, Ttl};

/// A put of an item. Set options, then await it or add it to a [batch](super::Batch::put).
///
/// ```
/// # use superstep::store::{LongTermStore, MemoryStore};
/// # use std::time::Duration;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> superstep::Result<()> {
/// # let store = LongTermStore::new(MemoryStore::new());
/// let codes = store.of::<u32>(["users", "ann"]);
/// codes.put("code", &4711).ttl(Duration::from_secs(600)).await?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// - [`NotStorable`](StoreError::NotStorable) if the value could not be read back unchanged.
/// - [`Invalid`](StoreError::Invalid) if an option is invalid.
/// - [`Embed`](StoreError::Embed) if the embedding model fails.
/// - [`Backend`](StoreError::Backend) if the storage below the store fails.
///
/// # Cancel safety
/// The item is put as a whole or not at all.
///
/// # Durability
/// After the put has returned `Ok`, the item survives everything that the store promises to survive.
#[derive(Debug)]
#[must_use = "a put writes nothing until it is awaited or added to a batch"]
pub struct Putting {
    pub(super) store: Arc<ConfiguredStore>,
    pub(super) draft: Draft,
}

/// A put without its time and its embedding, which are set when the put is awaited.
#[derive(Debug)]
pub(super) struct Draft {
    at: ItemKey,
    value: Result<Payload, StoreError>,
    lifetime: Lifetime,
    indexing: Indexing,
}

#[derive(Debug)]
enum Lifetime {
    StoreDefault,
    For(Duration),
    Forever,
}

#[derive(Debug)]
enum Indexing {
    StoreDefault,
    Fields(Vec<FieldPath>),
    None,
}

impl Putting {
    pub(super) fn new(store: Arc<ConfiguredStore>, at: ItemKey, value: Result<Payload, StoreError>) -> Self {
        Self {
            store,
            draft: Draft { at, value, lifetime: Lifetime::StoreDefault, indexing: Indexing::StoreDefault },
        }
    }

    /// Sets the time to live: from one millisecond to a thousand years. It overrides the default of the store.
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.draft.lifetime = Lifetime::For(ttl);
        self
    }

    /// Stores the item without a time to live. It overrides the default of the store.
    pub fn forever(mut self) -> Self {
        self.draft.lifetime = Lifetime::Forever;
        self
    }

    /// Excludes the item from semantic search. The embedding model receives no text of it.
    pub fn not_indexed(mut self) -> Self {
        self.draft.indexing = Indexing::None;
        self
    }

    /// Indexes these fields for semantic search, instead of the fields of the index.
    pub fn indexed_by<F: Into<FieldPath>>(mut self, fields: impl IntoIterator<Item = F>) -> Self {
        self.draft.indexing = Indexing::Fields(fields.into_iter().map(Into::into).collect());
        self
    }
}

impl Draft {
    /// Returns the put without its embedding, and the strings to embed.
    ///
    /// # Errors
    /// The value cannot be stored, a limit is exceeded, the time to live is invalid, or fields are to be indexed but the store has no index.
    pub(super) fn prepare(self, store: &ConfiguredStore) -> Result<(Put, Vec<String>), StoreError> {
        let Self { at, value, lifetime, indexing } = self;
        let value = value?;
        let ttl = match lifetime {
            Lifetime::StoreDefault => store.ttl,
            Lifetime::For(ttl) => Some(ttl),
            Lifetime::Forever => None,
        };
        let ttl = ttl.map(Ttl::new).transpose()?;
        let texts = match (indexing, &store.index) {
            (Indexing::None, _) | (Indexing::StoreDefault, None) => Vec::new(),
            (Indexing::StoreDefault, Some(index)) => index.texts(&at, &value, None)?,
            (Indexing::Fields(fields), Some(index)) => index.texts(&at, &value, Some(&fields))?,
            (Indexing::Fields(_), None) => {
                return Err(StoreError::invalid(format!(
                    "item `{}` of namespace {} names fields to index, but the store has no index: add one with \
                     `LongTermStore::new(store).index(..)`",
                    at.key, at.namespace
                )));
            }
        };
        let put = Put::new(at, value).ttl(ttl);
        put.check()?;
        Ok((put, texts))
    }
}
