use super::{LongTermStore, Store};

/// A long-term store, as `Graph::with_store` takes it: a [`LongTermStore`] or a plain [`Store`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a long-term store",
    label = "not a long-term store",
    note = "use `MemoryStore` or `superstep_sqlite::SqliteStore`; a checkpointer goes into `with_checkpointer`"
)]
pub trait IntoStore {
    /// Converts the value to a [`LongTermStore`].
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
