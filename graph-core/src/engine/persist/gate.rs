use crate::checkpoint::{RecordKey, RecordKind, TaskRecord};

use super::records::{json_record, key};

/// The breakpoints that a thread has stopped at.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Gate {
    pub(crate) before: Vec<String>,
    pub(crate) after: Vec<String>,
    /// It has come to them and has not stopped yet. That is stored with the checkpoint: later, nothing says any more which
    /// nodes have just run. (What runs next is there to be seen, so nothing is said of breakpoints before it.)
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) ahead: bool,
}

/// The breakpoints among the records of a checkpoint.
pub(crate) fn read_gate(records: &[TaskRecord]) -> Option<Gate> {
    let gate = records.iter().find(|record| record.key.kind == RecordKind::Breakpoint)?;
    Some(serde_json::from_slice(gate.payload.bytes()).unwrap_or_default())
}

impl Gate {
    /// Whether the thread stands there: at none, once somebody has written to the call that stood there.
    pub(crate) fn stands(&self) -> bool {
        !self.ahead && self.before.len() + self.after.len() > 0
    }

    /// Its record; a checkpoint has one at most.
    pub(super) fn record(&self) -> Option<TaskRecord> {
        json_record(key(RecordKey::NO_TASK, RecordKind::Breakpoint, ""), self).ok()
    }
}
