use super::{Fields, names};

names! {
    /// The order of a list.
    pub(crate) enum SortOrder {
        /// Smallest first.
        Ascending = "asc",
        /// Greatest first.
        Descending = "desc",
    }
}

names! {
    /// The reaction to an object that exists and is to be created.
    pub(crate) enum IfExists {
        /// The request fails.
        Raise = "raise",
        /// The existing one is returned.
        DoNothing = "do_nothing",
    }
}

/// Reads `limit`, from 1 to 1,000, and `offset`.
pub(crate) fn page(fields: &mut Fields<'_>, limit: u64) -> (usize, usize) {
    let limit = fields.integer("limit", 1..=1_000, limit);
    // The sum of both must be a valid position.
    let offset = fields.integer("offset", 0..=u64::from(u32::MAX), 0);
    (usize::try_from(limit).unwrap_or(usize::MAX), usize::try_from(offset).unwrap_or(usize::MAX))
}
