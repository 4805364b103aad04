use std::ops::Deref;

use crate::payload::Payload;

use super::Item;

/// A search result. It derefs to the [`Item`].
#[derive(Clone, Debug, PartialEq)]
pub struct Found<V = Payload> {
    /// The item.
    pub item: Item<V>,
    /// The similarity in a semantic search: the cosine, from -1 to 1. `None` in other searches.
    pub score: Option<f32>,
}

impl<V> Deref for Found<V> {
    type Target = Item<V>;

    fn deref(&self) -> &Item<V> {
        &self.item
    }
}
