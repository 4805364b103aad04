//! The conformance suite for caches: a test for every promise of [`Cache`](superstep_store::cache::Cache).
//!
//! ```
//! use superstep_conformance::cache::TestCache;
//! use superstep_store::cache::{CacheError, MemoryCache};
//!
//! struct Mine(MemoryCache); // a cache on disk has a temporary folder here
//!
//! impl TestCache for Mine {
//!     type Cache = MemoryCache;
//!
//!     async fn open(&self) -> Result<Self::Cache, CacheError> {
//!         Ok(self.0.clone())
//!     }
//! }
//!
//! superstep_conformance::cache_conformance_tests!(Mine(MemoryCache::new()));
//! ```
//!
//! As for checkpoint stores, there is a `#[test]` for each case, each test has its own store, and a cache must pass
//! all cases. A cache may drop entries, but not the few that a case has just put.

mod case;
mod cases;
mod fixture;
mod test_cache;

pub use case::{Case, cases, run};
pub use test_cache::TestCache;
