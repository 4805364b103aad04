//! Snapshots of threads without the types of their states.

use std::time::SystemTime;

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};
use superstep::GraphState;
use superstep::checkpoint::{CheckpointId, CheckpointSource};
use superstep::interrupt::OpenInterrupt;
use superstep::thread::{Snapshot, TaskSnapshot};

use crate::api_error::{ApiError, ApiResult};

/// A snapshot of a thread.
#[derive(Debug)]
pub(crate) struct StateView {
    /// The state; `None` before the first input is applied.
    pub(crate) values: Option<Box<RawValue>>,
    pub(crate) id: CheckpointId,
    pub(crate) parent: Option<CheckpointId>,
    pub(crate) source: CheckpointSource,
    pub(crate) step: i64,
    pub(crate) metadata: Map<String, Value>,
    pub(crate) created_at: SystemTime,
    /// `true` if nothing is left to run.
    pub(crate) finished: bool,
    pub(crate) tasks: Vec<TaskView>,
}

/// A planned task of a snapshot.
#[derive(Debug)]
pub(crate) struct TaskView {
    pub(crate) id: String,
    pub(crate) node: String,
    pub(crate) error: Option<String>,
    pub(crate) interrupts: Vec<OpenInterrupt>,
    /// The writes of a finished task: an array of objects.
    pub(crate) result: Option<Value>,
}

impl StateView {
    pub(crate) fn of<S: GraphState>(snapshot: Snapshot<S>) -> ApiResult<Self> {
        let written = |error: serde_json::Error| {
            ApiError::internal(format!("the state of the thread cannot be written as JSON: {error}"))
        };
        let finished = snapshot.is_finished();
        let values = snapshot.state.as_ref().map(|state| to_raw_value(&state.dump())).transpose();
        let mut tasks = Vec::with_capacity(snapshot.tasks.len());
        for task in &snapshot.tasks {
            tasks.push(TaskView::of(task).map_err(written)?);
        }
        Ok(Self {
            values: values.map_err(written)?,
            id: snapshot.id,
            parent: snapshot.parent,
            source: snapshot.source,
            step: snapshot.step,
            metadata: snapshot.metadata,
            created_at: snapshot.created_at,
            finished,
            tasks,
        })
    }

    /// Returns the open interrupts of all tasks.
    pub(crate) fn interrupts(&self) -> impl Iterator<Item = &OpenInterrupt> {
        self.tasks.iter().flat_map(|task| &task.interrupts)
    }
}

impl TaskView {
    fn of<S: GraphState>(task: &TaskSnapshot<S>) -> Result<Self, serde_json::Error> {
        // The JSON of the task has its update by the rules of the state.
        let mut json = serde_json::to_value(task)?;
        let result = json.get_mut("result").map(Value::take);
        Ok(Self {
            id: task.id.clone(),
            node: task.node.to_string(),
            error: task.error.as_ref().map(|error| error.text.clone()),
            interrupts: task.interrupts.clone(),
            result,
        })
    }
}
