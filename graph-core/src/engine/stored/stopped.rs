use std::sync::Arc;
use std::time::SystemTime;

use crate::checkpoint::{Checkpoint, RecordKey, RecordKind, StatusKind, StoredStatus, TaskRecord};
use crate::error::ErrorKind;
use crate::options::{from_millis, to_millis};

use super::corrupt::corrupt;
use super::json::reason;
use super::keys::key;

/// The reason why a run has stopped although it could continue: a stop request or a sleep. The next run removes the
/// record.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Stopped {
    /// `true` if the run was asked to stop.
    #[serde(default, skip_serializing_if = "std::ops::Not::not", rename = "told")]
    pub(crate) requested: bool,
    /// The time at which the first sleeping task wakes, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) wakes_at: Option<u64>,
}

/// Reads the reason for a stop from the records of a checkpoint, if there is one.
pub(crate) fn read_stopped(
    thread: &Arc<str>,
    checkpoint: &Checkpoint,
    records: &[TaskRecord],
) -> Result<Option<Stopped>, ErrorKind> {
    let stopped = records.iter().find(|record| record.key.kind == RecordKind::Stopped);
    let read = stopped.map(|stopped| serde_json::from_slice(stopped.payload.bytes())).transpose();
    read.map_err(|error| corrupt(thread, checkpoint, "the reason of the stop", reason(&error)))
}

impl Stopped {
    pub(crate) fn new(requested: bool, wakes_at: Option<SystemTime>) -> Self {
        Self { requested, wakes_at: wakes_at.map(to_millis) }
    }

    /// Returns the time at which the first sleeping task wakes.
    pub(crate) fn wakes_at(&self) -> Option<SystemTime> {
        self.wakes_at.and_then(from_millis)
    }

    /// Returns the status of a thread whose run has stopped. `asks` is `true` if it has open interrupts.
    ///
    /// Programs resume stopped and due threads by themselves, which would pass a breakpoint for a person. So a thread at
    /// a breakpoint is neither, even if other tasks sleep or were stopped.
    pub(crate) fn status(&self, at_breakpoint: bool, asks: bool) -> StoredStatus {
        let wakes_at = self.wakes_at().filter(|_| !at_breakpoint);
        let kind = if self.requested && !at_breakpoint {
            StatusKind::Stopped
        } else if asks {
            StatusKind::WaitingForAnswer
        } else if wakes_at.is_some() {
            StatusKind::WaitingForTime
        } else {
            StatusKind::AtBreakpoint
        };
        StoredStatus::new(kind).wakes_at(wakes_at)
    }

    /// Returns the key of the record. A checkpoint has at most one.
    pub(crate) fn key() -> RecordKey {
        key(RecordKey::NO_TASK, RecordKind::Stopped, "")
    }
}
