//! The conformance suite for long-term stores: a test for every promise of [`Store`](superstep_store::store::Store).
//!
//! ```
//! use superstep_conformance::store::TestLongTermStore;
//! use superstep_store::store::{StoreError, MemoryStore};
//!
//! struct Mine(MemoryStore); // a store on disk has a temporary folder here
//!
//! impl TestLongTermStore for Mine {
//!     type Store = MemoryStore;
//!
//!     async fn open(&self) -> Result<Self::Store, StoreError> {
//!         Ok(self.0.clone())
//!     }
//! }
//!
//! superstep_conformance::store_conformance_tests!(Mine(MemoryStore::new()));
//! ```
//!
//! As for checkpoint stores, there is a `#[test]` for each case, each test has its own store, and a store must pass
//! all cases.

mod case;
mod cases;
mod fixture;
mod test_long_term_store;

pub use case::{Case, cases, run};
pub use test_long_term_store::{Damage, TestLongTermStore};
