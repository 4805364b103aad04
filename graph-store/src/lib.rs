//! The store interfaces of `superstep`: typed state graphs.
//!
//! A graph keeps three kinds of data outside of its process, each behind a trait that any database can implement:
//!
//! | module | trait | holds |
//! |---|---|---|
//! | [`checkpoint`] | [`Checkpointer`](checkpoint::Checkpointer) | the checkpoints of threads |
//! | [`store`] | [`Store`](store::Store) | the long-term store: items that all threads share |
//! | [`cache`] | [`Cache`](cache::Cache) | results of nodes |
//!
//! Values are [payloads](payload): bytes with an encoding. No store knows a type of a state. All stores have the same
//! [limits]. The crate also has the stores in memory and an encrypting wrapper (feature `encryption`). It does not
//! depend on the engine.
//!
//! Fields can be added to the records, queries and errors in a compatible release. Other crates therefore create them with
//! functions such as [`Prune::new`](checkpoint::Prune::new), set optional fields with methods of the same name, and match
//! them with `..`.
//!
//! Applications use these modules through `superstep`, which exports them under the same names. Depend on this crate to
//! write a store, and on `superstep-conformance` to test it.

pub mod cache;
pub mod checkpoint;
#[doc(hidden)]
pub mod contain;
mod error;
pub mod limits;
pub mod payload;
pub mod store;
pub mod unix_millis;

/// The keys and values that a caller attaches to a run.
///
/// They are JSON because callers filter by them, and because a server receives them as JSON.
pub type Metadata = serde_json::Map<String, serde_json::Value>;
