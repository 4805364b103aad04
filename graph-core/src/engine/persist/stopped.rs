use crate::checkpoint::{RecordKey, RecordKind, TaskRecord};
use crate::engine::Driver;
use crate::state::GraphState;

use super::records::{json_record, key};

/// Why a run has stopped that could have gone on. A run that goes on from there takes it back.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Stopped {
    /// It was told to.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) told: bool,
}

/// Why the run has stopped that left these records, if it says so.
pub(crate) fn read_stopped(records: &[TaskRecord]) -> Option<Stopped> {
    let stopped = records.iter().find(|record| record.key.kind == RecordKind::Stopped)?;
    Some(serde_json::from_slice(stopped.payload.bytes()).unwrap_or_default())
}

impl Stopped {
    /// The key of its record; a checkpoint has one at most.
    pub(super) fn key() -> RecordKey {
        key(RecordKey::NO_TASK, RecordKind::Stopped, "")
    }
}

impl<S: GraphState, D> Driver<S, D> {
    /// Stores why the run has stopped.
    pub(super) fn store_stopped(&self, stopped: &Stopped) {
        if let Some(persist) = &self.persist {
            persist.records(json_record(Stopped::key(), stopped).into_iter().collect(), Vec::new());
        }
    }
}
