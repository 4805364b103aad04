//! Caches: results of nodes, stored for the next task with the same key.
//!
//! [`Cache`] is the trait of a cache. [`MemoryCache`] keeps results in the process. `superstep_sqlite::SqliteCache`
//! keeps them in a file, which several processes can share.

#[expect(clippy::module_inception, reason = "a type lives in the file of its name")]
mod cache;
mod entry;
mod error;
mod limits;
mod memory;

pub use cache::{Cache, CacheFuture};
pub use entry::{Clear, EntryKey, NewEntry};
pub use error::{CacheError, CorruptEntry};
pub use memory::MemoryCache;
