use std::time::SystemTime;

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::checkpoint::{CheckpointId, CheckpointSource};
use crate::interrupt::OpenInterrupt;
use crate::options::clock;

use super::{TaskError, TaskStatus};

/// A subgraph call of a thread, without the type of its state. Made by [`Thread::calls`](super::Thread::calls).
///
/// It serializes to JSON with the names of its fields, with `created_at_ms` in milliseconds since 1970.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct CallSnapshot {
    /// The namespace of the call's checkpoints, for [`call_history`](super::Thread::call_history).
    pub namespace: String,
    /// The nodes that run subgraphs, from the thread's own graph down to the call.
    pub path: Vec<String>,
    /// The key of the call, for a subgraph whose calls have keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The checkpoint of the parent run at which the call was made.
    pub called_at: CheckpointId,
    /// The index of the task that has made the call. `None` for an update between two calls.
    pub task: Option<usize>,
    /// The checkpoint's id.
    pub id: CheckpointId,
    /// The checkpoint that it follows in its namespace.
    pub parent: Option<CheckpointId>,
    /// The operation that made the checkpoint.
    pub source: CheckpointSource,
    /// The step number of the call.
    pub step: i64,
    /// The run that made the checkpoint.
    pub run_id: String,
    /// The time at which the checkpoint was made.
    #[serde(rename = "created_at_ms", serialize_with = "millis")]
    pub created_at: SystemTime,
    /// The state of the call by the dump rules of its type, without excluded and untracked fields.
    ///
    /// `None` if the subgraph is [lazy](crate::subgraph::Subgraph::lazy), if its input is not applied yet, or if the state
    /// of the parent run, on which the call works, is not stored any longer.
    pub state: Option<Value>,
    /// The reason why the state cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<String>,
    /// The nodes of the planned tasks, one name for each task. Empty if the call has ended.
    pub next: Vec<String>,
    /// The planned tasks, in the order of `next`.
    pub tasks: Vec<CallTask>,
    /// The calls that these tasks have made. Empty in a history.
    pub calls: Vec<CallSnapshot>,
}

/// A planned task of a subgraph call and its progress.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct CallTask {
    /// The task's id.
    pub id: String,
    /// The name of the task's node.
    pub node: String,
    /// The progress of the task.
    #[serde(serialize_with = "status")]
    pub status: TaskStatus,
    /// The task's last failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<TaskError>,
    /// The open interrupts of the task.
    pub interrupts: Vec<OpenInterrupt>,
}

fn millis<S: Serializer>(time: &SystemTime, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(clock::to_millis(*time))
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn status<S: Serializer>(status: &TaskStatus, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(status.name())
}
