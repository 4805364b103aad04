/// One page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Page<T> {
    /// The items, in order.
    pub items: Vec<T>,
    /// `true` if there may be further items. Query again, starting after the last item.
    pub more: bool,
}

impl<T> Page<T> {
    /// Creates a page. `more` is `true` if there may be further items.
    pub const fn new(items: Vec<T>, more: bool) -> Self {
        Self { items, more }
    }
}
