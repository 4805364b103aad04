use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;

use superstep_store::store::{Namespace, Store, StoreError};

/// Where a store is: a file, a folder, a database, or just a store in memory.
///
/// Each case is given a new place, in which nothing has been stored yet.
pub trait Place: Send + Sync + 'static {
    /// The store.
    type Store: Store;

    /// Opens the store that is here, as a process does when it starts.
    ///
    /// Called again, it opens the *same* store, with all that was written; also while another one is open. A store that can
    /// be opened but once gives out another handle to it.
    fn open(&self) -> impl Future<Output = Result<Self::Store, StoreError>> + Send;

    /// Spoils what is stored, so that the store can see that it is spoilt: a length that is wrong, a number of no meaning. No
    /// store is open meanwhile. Gives back whether it has done so; a place that cannot, or that has nothing of the kind, says
    /// no, and is not asked any further.
    fn damage(&self, damage: &Damage<'_>) -> impl Future<Output = bool> + Send {
        let _ = damage;
        ready(false)
    }
}

/// What [`Place::damage`] is to spoil.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Damage<'a> {
    /// The value of an item.
    Value {
        /// Its namespace; there are others.
        namespace: &'a Namespace,
        /// Its key; there are others.
        key: &'a str,
    },
    /// The embedding of an item.
    Embedding {
        /// Its namespace; there are others.
        namespace: &'a Namespace,
        /// Its key; there are others.
        key: &'a str,
    },
}

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A place of whatever kind: cases are not made again for each store.
#[doc(hidden)]
pub trait AnyPlace: Send + Sync {
    fn open_any(&self) -> BoxFuture<'_, Result<Arc<dyn Store>, StoreError>>;
    fn damage_any<'a>(&'a self, damage: &'a Damage<'a>) -> BoxFuture<'a, bool>;
}

impl<P: Place> AnyPlace for P {
    fn open_any(&self) -> BoxFuture<'_, Result<Arc<dyn Store>, StoreError>> {
        Box::pin(async move { Ok(Arc::new(self.open().await?) as Arc<dyn Store>) })
    }

    fn damage_any<'a>(&'a self, damage: &'a Damage<'a>) -> BoxFuture<'a, bool> {
        Box::pin(self.damage(damage))
    }
}
