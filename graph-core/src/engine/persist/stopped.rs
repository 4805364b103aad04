use std::time::SystemTime;

use crate::checkpoint::{RecordKey, RecordKind, TaskRecord};
use crate::engine::Driver;
use crate::engine::clock::{from_millis, to_millis};

use super::json::json_record;
use super::keys::key;

/// The reason why a run has stopped although it could continue: a stop request or a sleep. The next run removes the
/// record.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Stopped {
    /// `true` if the run was asked to stop.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) told: bool,
    /// The time at which the first sleeping task wakes, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    wakes_at: Option<u64>,
}

/// Reads the reason for a stop from the records of a checkpoint, if there is one.
pub(crate) fn read_stopped(records: &[TaskRecord]) -> Option<Stopped> {
    let stopped = records.iter().find(|record| record.key.kind == RecordKind::Stopped)?;
    Some(serde_json::from_slice(stopped.payload.bytes()).unwrap_or_default())
}

impl Stopped {
    pub(super) fn new(told: bool, wakes_at: Option<SystemTime>) -> Self {
        Self { told, wakes_at: wakes_at.map(to_millis) }
    }

    /// Returns the time at which the first sleeping task wakes.
    pub(crate) fn wakes_at(&self) -> Option<SystemTime> {
        self.wakes_at.and_then(from_millis)
    }

    /// Returns the key of the record. A checkpoint has at most one.
    pub(super) fn key() -> RecordKey {
        key(RecordKey::NO_TASK, RecordKind::Stopped, "")
    }
}

impl Driver {
    /// Stores the reason for a stop of a run that could continue, or removes an earlier one.
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
