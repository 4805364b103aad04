/// The result of the creation of a record.
#[derive(Debug, PartialEq)]
pub(crate) enum Created<T> {
    /// The record, as it is stored.
    New(T),
    /// The record existed, and nothing has changed.
    Existing(T),
    /// The record exists and belongs to another caller.
    Taken,
}
