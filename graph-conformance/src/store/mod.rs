//! The conformance suite for long-term stores: a test for every promise of [`Store`](superstep_store::store::Store).
//!
//! ```
//! use superstep_conformance::store::Place;
//! use superstep_store::store::{StoreError, MemoryStore};
//!
//! struct Mine(MemoryStore); // a store on disk has a temporary folder here
//!
//! impl Place for Mine {
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
//! As for checkpoint stores, there is a `#[test]` for each case, each test has its own place, and a store must pass
//! all cases.

mod case;
mod cases;
mod fixture;
mod place;

pub use case::{Case, cases, run};
pub use place::{Damage, Place};
