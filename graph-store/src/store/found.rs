use std::ops::Deref;

use crate::payload::Payload;

use super::Item;

/// What a search has found; derefs to the [`Item`].
#[derive(Clone, Debug, PartialEq)]
pub struct Found<V = Payload> {
    /// The item.
    pub item: Item<V>,
    /// In a search by meaning, how near it is: the cosine, from -1 to 1.
    pub score: Option<f32>,
}

impl<V> Deref for Found<V> {
    type Target = Item<V>;

    fn deref(&self) -> &Item<V> {
        &self.item
    }
}
