//! What a long-term store has to pass: every promise of [`Store`](superstep_store::store::Store) as a test of its own.
//!
//! ```
//! use superstep_conformance::store::Place;
//! use superstep_store::store::{StoreError, MemoryStore};
//!
//! struct Mine(MemoryStore); // for a store on disk: a temporary folder
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
//! It is as for stores of checkpoints: a `#[test]` for each case, each with a place of its own, and no list of exceptions.

mod case;
mod cases;
mod desk;
mod place;

pub use case::{Case, cases, run};
pub use place::{Damage, Place};
