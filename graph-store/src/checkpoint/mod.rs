//! Checkpoints: the records of a thread, and the [`Checkpointer`] trait of the stores that keep them.
//!
//! Applications see threads, typed states and snapshots. This module is the other side of that interface: records
//! without any type of the state. A store keeps [`Checkpoint`]s in namespaces of threads, the [changes](FieldChange)
//! of fields between them, and [records](TaskRecord) of tasks, and writes a [batch](WriteBatch) of them only if its
//! [fence](Fence) holds.

mod batch;
#[expect(clippy::module_inception, reason = "a public type lives in the file of its name")]
mod checkpoint;
mod checkpoint_query;
mod checkpointer;
#[cfg(feature = "encryption")]
mod encrypted;
mod error;
mod history;
mod id;
mod limits;
mod memory;
mod metadata;
mod namespace_query;
mod page;
mod prune;
mod record;
mod status;
mod thread_position;
mod thread_query;

pub use batch::{BatchWrite, Fence, WriteBatch};
pub use checkpoint::{
    ChangeKind, Checkpoint, CheckpointSource, FieldChange, NewCheckpoint, RunRecord, StoredChange,
    StoredCheckpoint, StoredField,
};
pub use checkpoint_query::CheckpointQuery;
pub use checkpointer::{CheckpointFuture, Checkpointer, Loaded};
#[cfg(feature = "encryption")]
pub use encrypted::{EncryptedCheckpointer, Key, Keys};
pub use error::{CheckpointError, Conflict, CorruptCheckpoint};
pub use history::HistoryEntry;
pub use id::{CheckpointId, InvalidCheckpointId};
pub use limits::check_thread_name;
pub use memory::MemoryCheckpointer;
pub use metadata::metadata_digest;
pub use namespace_query::{NamespaceQuery, NamespaceRecord};
pub use page::Page;
pub use prune::{Prune, Pruned};
pub use record::{RecordKey, RecordKind, TaskRecord};
pub use status::{StatusKind, StoredStatus};
pub use thread_position::{ChangePosition, DuePosition};
pub use thread_query::{ThreadQuery, ThreadRecord};
