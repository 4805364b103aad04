//! Checkpoints: the records of a thread, and the [`Checkpointer`] trait of the stores that keep them.
//!
//! [`Graph::with_checkpointer`](crate::Graph::with_checkpointer) makes a graph durable. Applications then work with
//! [threads](crate::thread::Thread), typed states and snapshots. This module is for authors of stores: the records that a
//! [`Checkpointer`] keeps, without any type of the state.
//!
//! [`MemoryCheckpointer`] keeps checkpoints in the process, and `superstep_sqlite::SqliteCheckpointer` in a file. With the
//! feature `encryption`, `EncryptedCheckpointer` encrypts the payloads of any checkpointer.

pub use superstep_store::checkpoint::*;
