//! What a cache of nodes' results has to pass: every promise of [`Cache`](superstep_store::cache::Cache) as a test of its own.
//!
//! ```
//! use superstep_conformance::cache::Place;
//! use superstep_store::cache::{CacheError, MemoryCache};
//!
//! struct Mine(MemoryCache); // of a cache on disk: a temporary folder
//!
//! impl Place for Mine {
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
//! It is as for stores of checkpoints: a `#[test]` for each case, each with a place of its own, and no list of exceptions. A
//! cache may forget what it likes, but not the few results that a case has just put.

mod case;
mod cases;
mod desk;
mod place;

pub use case::{Case, cases, run};
pub use place::Place;
