use std::ops::Deref;

use crate::payload::Payload;

use super::Item;

/// A search result. It derefs to the [`Item`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Found<V = Payload> {
    /// The item.
    pub item: Item<V>,
    /// The similarity in a semantic search: the cosine, from -1 to 1. `None` in other searches.
    pub score: Option<f32>,
}

impl<V> Found<V> {
    /// Creates a search result. The score is `None` outside of a semantic search.
    pub fn new(item: Item<V>, score: impl Into<Option<f32>>) -> Self {
        Self { item, score: score.into() }
    }
}

impl<V> Deref for Found<V> {
    type Target = Item<V>;

    fn deref(&self) -> &Item<V> {
        &self.item
    }
}
