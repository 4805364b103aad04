//! The connection of a run to its thread: the writes of the run and of its durable steps.

mod logged;
#[expect(clippy::module_inception, reason = "a type lives in the file of its name")]
mod persist;
mod recorder;

pub(crate) use persist::{CheckpointKind, Persist, RetainedCheckpoint, StoredPlan};
pub(crate) use recorder::Recorder;
