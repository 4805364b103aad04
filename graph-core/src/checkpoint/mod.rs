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

pub use batch::{BatchWrite, Fence, WriteBatch};
pub use checkpoint::{
    ChangeKind, Checkpoint, CheckpointSource, FieldChange, NewCheckpoint, RunRecord, StoredChange,
    StoredCheckpoint, StoredField,
};
pub use checkpointer::{CheckpointFuture, Checkpointer, Loaded};
#[cfg(feature = "encryption")]
pub use encrypted::{EncryptedCheckpointer, Key, Keys};
pub use error::{CheckpointError, Conflict, CorruptCheckpoint};
pub use id::{CheckpointId, InvalidCheckpointId};
pub use memory::MemoryCheckpointer;
pub use payload::{Encoding, Payload};
pub use query::{CheckpointQuery, Page, Prune, Pruned, ThreadQuery, ThreadRecord};
pub use record::{RecordKey, RecordKind, TaskRecord};
