//! Restores a run from a checkpoint: its state, its plan, and the progress of its tasks.

mod applied;
mod lineage;
mod open;
mod page_states;
mod patches;
mod read_onto;
mod read_records;
mod restored_checkpoint;
mod restored_state;
mod task_records;
mod waiting;

pub(crate) use applied::{AppliedBy, AppliedResults, has_unrecorded_tasks, is_applied_by};
pub(crate) use lineage::earlier_call;
pub(crate) use open::open;
pub(crate) use open::{open_call, open_onto, open_state};
pub(crate) use page_states::PageStates;
pub(crate) use patches::{patch_records, shown_state};
pub(crate) use read_records::{planned, read_tasks};
pub(crate) use restored_checkpoint::{RestoredCheckpoint, TaskProgress};
pub(crate) use task_records::TaskRecords;
pub(crate) use waiting::Waiting;
