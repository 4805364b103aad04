//! Checkpoints: what a store keeps of a thread, and what a store is.
//!
//! A graph becomes durable by [`Graph::with_checkpointer`](crate::Graph::with_checkpointer); its users see threads, typed
//! states and snapshots. This module is the other side: the records that a [`Checkpointer`] keeps, without any types of the
//! state's in them.

mod batch;
#[expect(clippy::module_inception, reason = "a public type lives in the file of its name")]
mod checkpoint;
mod checkpointer;
#[cfg(feature = "encryption")]
mod encrypted;
mod error;
mod id;
mod memory;
mod payload;
mod query;
mod record;

pub use batch::{Batch, Fence, Write};
pub use checkpoint::{
    Checkpoint, NewCheckpoint, Piece, PieceKind, RunRecord, Source, StoredCheckpoint, StoredField,
    StoredPiece,
};
pub use checkpointer::{Checkpointer, Loaded, StoreFuture};
#[cfg(feature = "encryption")]
pub use encrypted::{EncryptedCheckpointer, Key, Keys};
pub use error::{Conflict, Corrupt, StoreError};
pub use id::{CheckpointId, InvalidCheckpointId};
pub use memory::MemoryCheckpointer;
pub use payload::{Encoding, Payload};
pub use query::{Page, Prune, Pruned, Query, ThreadQuery, ThreadRecord};
pub use record::{RecordKey, RecordKind, TaskRecord};
