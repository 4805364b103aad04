//! A conformance suite for checkpoint stores, long-term stores and caches.
//!
//! The suite has a test for every promise of [`Checkpointer`](superstep_store::checkpoint::Checkpointer). The author
//! of a store implements [`TestStore`], which opens the store, and calls a macro:
//!
//! ```
//! use superstep_conformance::TestStore;
//! use superstep_store::checkpoint::{MemoryCheckpointer, CheckpointError};
//!
//! struct Mine(MemoryCheckpointer); // a store on disk has a temporary folder here
//!
//! impl TestStore for Mine {
//!     type Store = MemoryCheckpointer;
//!
//!     async fn open(&self) -> Result<Self::Store, CheckpointError> {
//!         Ok(self.0.clone())
//!     }
//! }
//!
//! superstep_conformance::conformance_tests!(Mine(MemoryCheckpointer::new()));
//! ```
//!
//! The macro creates a `#[test]` for each case. To run the cases on a runtime, pass it:
//! `conformance_tests!(place, run = |case| runtime.block_on(case))`. To run them without `#[test]`, use [`cases`].
//!
//! A failure reports the promise, the expected result and the actual result. A store conforms if it passes every case:
//! there is no list of exceptions. Cases about damaged data run only if the [`TestStore`] implements
//! [`damage`](TestStore::damage).
//!
//! The suite for long-term stores is in [`store`], and the suite for caches in [`cache`].

mod block_on;
mod broken;
pub mod cache;
mod case;
mod cases;
mod expect;
mod promise;
mod rng;
mod shorthand;
pub mod store;
mod test_store;
mod thread_contents;
mod write_log;
mod writer;

pub use block_on::block_on;
pub use broken::Broken;
pub use case::{Case, cases, run};
pub use promise::Promise;
pub use test_store::{Damage, TestStore};
