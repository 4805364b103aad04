/// The form in which a checkpoint stores a write to a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StoredAs {
    /// The field's value after the write.
    Value,
    /// The delta, which is folded again whenever the state is read. It suits fields that grow: a checkpoint then grows with
    /// the writes, not with the value. Folding must give the same result in every later version of the program.
    ///
    /// Once the deltas become larger than the value, the value is stored instead. To compare them, the value is encoded
    /// whenever the deltas have grown by about its size.
    Delta,
    /// Like `Delta`, for a value that is the concatenation of its deltas, such as a list. They never become larger than it.
    Appended,
}
