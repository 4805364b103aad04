/// What a checkpoint stores when a field was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StoredAs {
    /// The field's value after the write.
    Value,
    /// What was folded, to be folded again whenever the state is read. For fields that grow: what is stored grows with
    /// what was written, not with what is there. Folding has to come to the same in every later version of the program.
    ///
    /// Once the deltas have come to outweigh the value, the value is stored in their place; to know, it is encoded whenever
    /// they have grown by about as much as it has.
    Delta,
    /// The same for a value that *is* its deltas, one behind the other, as a list is its items: they never outweigh it.
    Appended,
}
