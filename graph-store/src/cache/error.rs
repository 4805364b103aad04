use std::error::Error as StdError;
use std::fmt;

use super::EntryKey;

/// What a cache fails with. Whatever it is, nothing of the call has been written.
///
/// A run does not fail with it: its node runs as if there were no cache, and an event says why
/// (`TaskNotCached`).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CacheError {
    /// Something that is kept cannot be read.
    #[error("{0}")]
    Corrupt(Box<CorruptEntry>),

    /// The cache was written by a newer version of this software.
    #[error(
        "the cache has format {found}, this program knows formats up to {known}: use a newer version of it"
    )]
    NewerFormat {
        /// The cache's format.
        found: u32,
        /// The newest format that is known here.
        known: u32,
    },

    /// What lies below the cache failed: a disk, a database, a network.
    #[error("the cache could not {what}")]
    Backend {
        /// What was being done.
        what: &'static str,
        /// Why it failed.
        #[source]
        source: Box<dyn StdError + Send + Sync>,
    },
}

impl CacheError {
    /// A failure of what lies below the cache.
    pub fn backend(what: &'static str, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::Backend { what, source: source.into() }
    }

    /// An entry that cannot be read.
    pub fn corrupt(at: &EntryKey, reason: impl Into<String>) -> Self {
        Self::Corrupt(Box::new(CorruptEntry { at: at.clone(), reason: reason.into() }))
    }
}

/// An entry that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorruptEntry {
    /// Which one.
    pub at: EntryKey,
    /// Why not.
    pub reason: String,
}

impl StdError for CorruptEntry {}

impl fmt::Display for CorruptEntry {
    /// Without its key: that may be what a state keeps to itself.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let EntryKey { graph, node, .. } = &self.at;
        write!(f, "a cached result of node `{node}` of graph `{graph}` cannot be read: {}", self.reason)
    }
}
