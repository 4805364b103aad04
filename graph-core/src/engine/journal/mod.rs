//! The order of writes of a run: batches go to the store one after another.

mod abandoned_runs;
mod deferred_writes;
mod handle;
#[expect(clippy::module_inception, reason = "a type lives in the file of its name")]
mod journal;
mod parent_persistence;
mod parent_task;
mod write_queue;

pub(crate) use abandoned_runs::{AbandonedRuns, Watch};
pub(crate) use handle::JournalHandle;
pub(crate) use journal::{Durable, Journal};
pub(crate) use parent_persistence::{NamespaceLock, ParentPersistence};
pub(crate) use parent_task::{ParentTask, ThreadTask};
