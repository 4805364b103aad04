//! What a store of checkpoints has to pass: every promise of
//! [`Checkpointer`](superstep_store::checkpoint::Checkpointer) as a test of its own.
//!
//! The author of a store says where one is, and how it is opened; the rest is here:
//!
//! ```
//! use superstep_conformance::Place;
//! use superstep_store::checkpoint::{MemoryCheckpointer, CheckpointError};
//!
//! struct Mine(MemoryCheckpointer); // for a store on disk: a temporary folder
//!
//! impl Place for Mine {
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
//! That makes a `#[test]` for each case. A store that needs a runtime of its own is given it:
//! `conformance_tests!(place, run = |case| runtime.block_on(case))`; one that tests in another way than `#[test]` goes
//! through [`cases`].
//!
//! A failure says what was promised, what was expected and what was found. A store *is* what passes all of this: there is no
//! list of exceptions. What only some stores can be asked —damage to what is stored— is asked of those whose [`Place`] knows
//! how. The promises of long-term stores are in [`store`], those of caches in [`cache`].

mod block_on;
mod broken;
pub mod cache;
mod case;
mod cases;
mod dice;
mod everything;
mod expect;
mod notation;
mod place;
mod promise;
pub mod store;
mod writer;
mod written;

pub use block_on::block_on;
pub use broken::Broken;
pub use case::{Case, cases, run};
pub use place::{Damage, Place};
pub use promise::Promise;
