use std::future::{Future, ready};

use superstep_store::store::{Namespace, Store, StoreError};

/// The place of a store: a file, a folder, a database, or memory.
///
/// Each case gets a new, empty store.
pub trait TestLongTermStore: Send + Sync + 'static {
    /// The type of the store.
    type Store: Store;

    /// Opens the store, as a process does when it starts.
    ///
    /// Each call opens the *same* store with all written data, even while another handle is open. A store that can be
    /// opened only once returns another handle to it.
    fn open(&self) -> impl Future<Output = Result<Self::Store, StoreError>> + Send;

    /// Damages stored data in a way that the store can detect: a wrong length, an invalid number.
    ///
    /// No handle is open during the call. Returns `true` if the data was damaged. Returns `false` if the storage does not
    /// support this damage, which skips the case.
    fn damage(&self, damage: &Damage<'_>) -> impl Future<Output = bool> + Send {
        let _ = damage;
        ready(false)
    }
}

/// The data that [`TestLongTermStore::damage`] damages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Damage<'a> {
    /// The value of an item.
    Value {
        /// The namespace of the item. Other namespaces have items too.
        namespace: &'a Namespace,
        /// The key of the item. The namespace has other items too.
        key: &'a str,
    },
    /// The embedding of an item.
    Embedding {
        /// The namespace of the item. Other namespaces have items too.
        namespace: &'a Namespace,
        /// The key of the item. The namespace has other items too.
        key: &'a str,
    },
}
