use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::time::Duration;

use crate::payload::Payload;

use super::{FieldPath, ItemKey, LongTermStore, Put, StoreError, Ttl};

/// An item that has not been put: set options, then await it, or add it to a [batch](super::Batch::put).
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
/// [`NotStorable`](StoreError::NotStorable) for a value that could not be read back, [`Invalid`](StoreError::Invalid) for options that
/// cannot be, [`Embed`](StoreError::Embed), [`Backend`](StoreError::Backend).
///
/// # Cancel safety
/// The item is put or is not.
///
/// # Durability
/// When it has returned, the item survives whatever the store promises to survive.
#[derive(Debug)]
#[must_use = "nothing is put until it is awaited"]
pub struct Putting {
    store: LongTermStore,
    pub(super) draft: Draft,
}

/// What is to be put, before it is known what time it is and what the model makes of it.
#[derive(Debug)]
pub(super) struct Draft {
    at: ItemKey,
    value: Result<Payload, StoreError>,
    lives: Lives,
    indexed: Indexed,
}

#[derive(Debug)]
enum Lives {
    AsTheStoreSays,
    For(Duration),
    Forever,
}

#[derive(Debug)]
enum Indexed {
    AsTheStoreSays,
    By(Vec<FieldPath>),
    Not,
}

impl Putting {
    pub(super) fn new(store: LongTermStore, at: ItemKey, value: Result<Payload, StoreError>) -> Self {
        Self {
            store,
            draft: Draft { at, value, lives: Lives::AsTheStoreSays, indexed: Indexed::AsTheStoreSays },
        }
    }

    /// How long it lives, whatever the store's rule is: from a millisecond to a thousand years.
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.draft.lives = Lives::For(ttl);
        self
    }

    /// It lives until it is deleted, whatever the store's rule is.
    pub fn forever(mut self) -> Self {
        self.draft.lives = Lives::Forever;
        self
    }

    /// It is found by no meaning, and no model is given anything of it.
    pub fn not_indexed(mut self) -> Self {
        self.draft.indexed = Indexed::Not;
        self
    }

    /// It is found by the meaning of these fields, instead of those of the index.
    pub fn indexed_by<F: Into<FieldPath>>(mut self, fields: impl IntoIterator<Item = F>) -> Self {
        self.draft.indexed = Indexed::By(fields.into_iter().map(Into::into).collect());
        self
    }
}

impl IntoFuture for Putting {
    type Output = Result<(), StoreError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        let Self { store, draft } = self;
        let batch = store.batch().draft(draft);
        Box::pin(async move { batch.await.map(drop) })
    }
}

impl Draft {
    /// What it comes to, but for the embedding, and the texts that it is made of.
    ///
    /// # Errors
    /// A value that cannot be stored, a time to live that is none, fields to be indexed where there is no index.
    pub(super) fn prepare(self, store: &LongTermStore) -> Result<(Put, Vec<String>), StoreError> {
        let Self { at, value, lives, indexed } = self;
        let value = value?;
        let ttl = match lives {
            Lives::AsTheStoreSays => store.default_ttl(),
            Lives::For(ttl) => Some(ttl),
            Lives::Forever => None,
        };
        let ttl = ttl.map(Ttl::new).transpose()?;
        let texts = match (indexed, store.indexed()) {
            (Indexed::Not, _) | (Indexed::AsTheStoreSays, None) => Vec::new(),
            (Indexed::AsTheStoreSays, Some(index)) => index.texts(&at, &value, None)?,
            (Indexed::By(fields), Some(index)) => index.texts(&at, &value, Some(&fields))?,
            (Indexed::By(_), None) => {
                return Err(StoreError::invalid(format!(
                    "item `{}` of namespace {} is to be indexed, and the store has no index: give it one with \
                     `LongTermStore::new(store).index(..)`",
                    at.key, at.namespace
                )));
            }
        };
        Ok((Put { at, value, ttl, embedding: None }, texts))
    }
}
