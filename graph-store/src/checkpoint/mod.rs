//! Checkpoints: the records of a thread, and the [`Checkpointer`] trait of the stores that keep them.
//!
//! Applications see threads, typed states and snapshots. This module is the other side of that interface: records
//! without any type of the state. A store keeps [`Checkpoint`]s in namespaces of threads, the [changes](FieldChange)
//! of fields between them, and [records](TaskRecord) of tasks, and writes a [batch](WriteBatch) of them only if its
//! [fence](Fence) holds.

mod batch;
#[expect(clippy::module_inception, reason = "a public type lives in the file of its name")]
mod checkpoint;
mod checkpointer;
#[cfg(feature = "encryption")]
mod encrypted;
mod error;
mod history;
mod id;
mod limits;
mod memory;
mod metadata;
mod query;
mod record;
mod status;

pub use batch::{BatchWrite, Fence, WriteBatch};
pub use checkpoint::{
    ChangeKind, Checkpoint, CheckpointSource, FieldChange, NewCheckpoint, RunRecord, StoredChange,
    StoredCheckpoint, StoredField,
};
pub use checkpointer::{CheckpointFuture, Checkpointer, Loaded};
#[cfg(feature = "encryption")]
pub use encrypted::{EncryptedCheckpointer, Key, Keys};
pub use error::{CheckpointError, Conflict, CorruptCheckpoint};
pub use history::HistoryEntry;
pub use id::{CheckpointId, InvalidCheckpointId};
pub use limits::check_thread_name;
pub use memory::MemoryCheckpointer;
pub use metadata::metadata_digest;
pub use query::{
    ChangePosition, CheckpointQuery, DuePosition, NamespaceQuery, NamespaceRecord, Page, Prune, Pruned,
    ThreadQuery, ThreadRecord,
};
pub use record::{RecordKey, RecordKind, TaskRecord};
pub use status::{StatusKind, StoredStatus};
