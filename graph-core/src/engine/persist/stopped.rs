use std::time::SystemTime;

use crate::checkpoint::{RecordKey, RecordKind, TaskRecord};
use crate::engine::Driver;
use crate::engine::clock::{from_millis, to_millis};
use crate::state::GraphState;

use super::records::{json_record, key};

/// Why a run has stopped that could have gone on: it was told to, or it sleeps. A run that goes on from there takes it back.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Stopped {
    /// It was told to.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) told: bool,
    /// When the first of its tasks wakes up, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    wakes_at: Option<u64>,
}

/// Why the run has stopped that left these records, if it says so.
pub(crate) fn read_stopped(records: &[TaskRecord]) -> Option<Stopped> {
    let stopped = records.iter().find(|record| record.key.kind == RecordKind::Stopped)?;
    Some(serde_json::from_slice(stopped.payload.bytes()).unwrap_or_default())
}

impl Stopped {
    pub(super) fn new(told: bool, wakes_at: Option<SystemTime>) -> Self {
        Self { told, wakes_at: wakes_at.map(to_millis) }
    }

    /// When the first of its tasks wakes up.
    pub(crate) fn wakes_at(&self) -> Option<SystemTime> {
        self.wakes_at.and_then(from_millis)
    }

    /// The key of its record; a checkpoint has one at most.
    pub(super) fn key() -> RecordKey {
        key(RecordKey::NO_TASK, RecordKind::Stopped, "")
    }
}

impl<S: GraphState, D> Driver<S, D> {
    /// Stores why the run has stopped, if it could have gone on; takes back what was stored of it before.
    pub(super) fn store_stopped(&mut self, stopped: &Stopped) {
        let Some(persist) = &mut self.persist else { return };
        if stopped.told || stopped.wakes_at.is_some() {
            persist.has_stopped = true;
            persist.records(json_record(Stopped::key(), stopped).into_iter().collect(), Vec::new());
        } else if std::mem::take(&mut persist.has_stopped) {
            persist.records(Vec::new(), vec![Stopped::key()]);
        }
    }
}
