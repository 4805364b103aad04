use std::collections::BTreeMap;
use std::sync::Arc;

use crate::checkpoint::{Checkpoint, RecordKey, RecordKind, TaskRecord};
use crate::error::ErrorKind;

use super::corrupt::corrupt;
use super::json::{json_record, reason};
use super::keys::key;

/// The breakpoints at which a thread has stopped.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct StoredBreakpoints {
    pub(crate) before: Vec<String>,
    pub(crate) after: Vec<String>,
    /// `true` if the run has reached breakpoints after nodes and has not stopped yet.
    ///
    /// This is stored with the checkpoint, because later nothing tells which nodes have just run. Breakpoints before
    /// nodes follow from the plan.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) ahead: bool,
    /// `true` if a later run has resumed the thread here. It does not stop at these breakpoints again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) passed: bool,
    /// For the run at the root of the thread: the positions of its subgraph calls, by task id. An older version stores
    /// none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) calls: BTreeMap<String, u64>,
}

/// Reads the breakpoints from the records of a checkpoint.
pub(crate) fn read_breakpoints(
    thread: &Arc<str>,
    checkpoint: &Checkpoint,
    records: &[TaskRecord],
) -> Result<Option<StoredBreakpoints>, ErrorKind> {
    let breakpoints = records.iter().find(|record| record.key.kind == RecordKind::Breakpoint);
    let read = breakpoints.map(|breakpoints| serde_json::from_slice(breakpoints.payload.bytes())).transpose();
    read.map_err(|error| corrupt(thread, checkpoint, "the breakpoints", reason(&error)))
}

impl StoredBreakpoints {
    /// Returns `true` if the thread has stopped here. A write to the subgraph call that had stopped here leaves no
    /// breakpoint.
    pub(crate) fn are_current(&self) -> bool {
        !self.ahead && !self.passed && self.before.len() + self.after.len() > 0
    }

    /// Returns the record. A checkpoint has at most one.
    pub(crate) fn record(&self) -> Option<TaskRecord> {
        json_record(key(RecordKey::NO_TASK, RecordKind::Breakpoint, ""), self).ok()
    }
}
