use serde::Serialize;

use super::condition::Tested;
use super::{Condition, FieldPath, LongTermStore, Store, StoreError, Test};

/// What [`filter`](super::Searching::filter) takes for a field: a value that it is equal to, or a comparison
/// ([`ne`](super::ne), [`gt`](super::gt), [`gte`](super::gte), [`lt`](super::lt), [`lte`](super::lte)).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be searched for",
    label = "a field cannot be compared with `{Self}`",
    note = "give a value that implements `serde::Serialize`, or a comparison like `gt(3)`"
)]
pub trait IntoCondition {
    /// The condition on this field.
    ///
    /// # Errors
    /// [`Invalid`](StoreError::Invalid) for a value that no field can be compared with.
    fn into_condition(self, path: FieldPath) -> Result<Condition, StoreError>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize> IntoCondition for T {
    fn into_condition(self, path: FieldPath) -> Result<Condition, StoreError> {
        Condition::new(path, Test::Equal, &self)
    }
}

#[diagnostic::do_not_recommend]
impl<T: Serialize> IntoCondition for Tested<T> {
    fn into_condition(self, path: FieldPath) -> Result<Condition, StoreError> {
        Condition::new(path, self.0, &self.1)
    }
}

/// What `Graph::with_store` takes: a [`LongTermStore`], or a [`Store`] of which nothing more is to be said.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no long-term store",
    label = "not a long-term store",
    note = "`MemoryStore` is one, and `superstep_sqlite::SqliteStore`; what keeps threads goes into `with_checkpointer`"
)]
pub trait IntoStore {
    /// The store.
    fn into_store(self) -> LongTermStore;
}

#[diagnostic::do_not_recommend]
impl<S: Store> IntoStore for S {
    fn into_store(self) -> LongTermStore {
        LongTermStore::new(self)
    }
}

impl IntoStore for LongTermStore {
    fn into_store(self) -> LongTermStore {
        self
    }
}
