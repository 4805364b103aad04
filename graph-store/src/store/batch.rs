use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;

use super::configured_store::ConfiguredStore;
use super::putting::Draft;
use super::{ItemKey, ItemWrite, ItemWrites, Namespace, Putting, StoreError};

/// Writes that are made together: all or none, in their order.
///
/// Await the batch to make the writes. The result has one entry for each write: `true` if an item existed before that
/// write.
///
/// ```
/// # use superstep::store::{LongTermStore, MemoryStore};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> superstep::Result<()> {
/// # let store = LongTermStore::new(MemoryStore::new());
/// let open = store.of::<String>(["users", "ann", "open"]);
/// let done = store.of::<String>(["users", "ann", "done"]);
/// open.put("7", &"book a table".to_owned()).await?;
///
/// store
///     .batch()
///     .put(done.put("7", &"book a table".to_owned()))
///     .delete(open.namespace(), "7")
///     .await?;
/// assert_eq!(open.get("7").await?, None);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// The same as for [`Putting`]. Nothing is written then.
///
/// # Cancel safety
/// All writes are made or none.
///
/// # Durability
/// After the batch has returned `Ok`, its writes survive everything that the store promises to survive.
#[derive(Debug)]
#[must_use = "a batch writes nothing until it is awaited"]
pub struct Batch {
    store: Arc<ConfiguredStore>,
    drafts: Vec<BatchDraft>,
}

#[derive(Debug)]
enum BatchDraft {
    Put(Draft),
    Delete(ItemKey),
}

impl Batch {
    pub(super) fn new(store: Arc<ConfiguredStore>) -> Self {
        Self { store, drafts: Vec::new() }
    }

    /// Adds a put. The item goes into the store of the batch.
    pub fn put(self, item: Putting) -> Self {
        self.draft(item.draft)
    }

    /// Adds a deletion. A missing item is not an error.
    pub fn delete(mut self, namespace: impl Into<Namespace>, key: impl AsRef<str>) -> Self {
        self.drafts.push(BatchDraft::Delete(ItemKey::new(namespace, key.as_ref())));
        self
    }

    pub(super) fn draft(mut self, draft: Draft) -> Self {
        self.drafts.push(BatchDraft::Put(draft));
        self
    }

    async fn write(self) -> Result<Vec<bool>, StoreError> {
        let Self { store, drafts } = self;
        // Every problem is found before the model is called.
        let (mut writes, mut texts) = (Vec::with_capacity(drafts.len()), Vec::new());
        for draft in drafts {
            writes.push(match draft {
                BatchDraft::Put(draft) => {
                    let (put, own) = draft.prepare(&store)?;
                    texts.push(own);
                    ItemWrite::Put(Box::new(put))
                }
                BatchDraft::Delete(at) => ItemWrite::Delete(at),
            });
        }
        if let Some(index) = &store.index {
            let mut embeddings = index.embed(texts).await?.into_iter();
            for write in &mut writes {
                if let ItemWrite::Put(put) = write {
                    put.embedding = embeddings.next().flatten();
                }
            }
        }
        if writes.is_empty() {
            return Ok(Vec::new());
        }
        store.store.write(ItemWrites { now: store.now(), writes }).await
    }
}

impl IntoFuture for Batch {
    type Output = Result<Vec<bool>, StoreError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.write())
    }
}

// A put is a batch of one write.
impl IntoFuture for Putting {
    type Output = Result<(), StoreError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        let Self { store, draft } = self;
        let batch = Batch::new(store).draft(draft);
        Box::pin(async move { batch.await.map(drop) })
    }
}
