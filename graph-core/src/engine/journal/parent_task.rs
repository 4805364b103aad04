use serde::{Deserialize, Serialize};

use crate::checkpoint::CheckpointId;

/// The parent task of a subgraph run, as the run's checkpoints store it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ParentTask {
    /// The checkpoint that planned the task, even if later updates from outside have kept it.
    pub(crate) checkpoint: CheckpointId,
    /// The task's index in its superstep.
    pub(crate) task: usize,
    /// The checkpoint of the subgraph run at which its input was applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) begun: Option<CheckpointId>,
    /// `true` if there is no parent task: an update from outside has written the state with which the next call
    /// begins.
    #[serde(rename = "between", default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) between_calls: bool,
    /// The checkpoint at which the task runs, if an update from outside has kept the task: the newer state is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) kept_at: Option<CheckpointId>,
    /// The task of the thread in which the parent run runs; `None` if the parent run is that of the thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) of_thread: Option<ThreadTask>,
}

/// A task of a thread's own graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ThreadTask {
    /// The checkpoint at which the task runs.
    pub(crate) at: CheckpointId,
    /// The task's index in its superstep.
    pub(crate) task: usize,
}

impl ParentTask {
    /// Returns `true` if both have the same parent task.
    pub(crate) fn is_same_task(&self, other: &Self) -> bool {
        (self.checkpoint, self.task, self.between_calls)
            == (other.checkpoint, other.task, other.between_calls)
    }

    /// Creates the position in a task of a checkpoint, or the position between two calls for `None`.
    pub(crate) fn at(checkpoint: CheckpointId, task: Option<usize>) -> Self {
        let (task, between_calls) = (task.unwrap_or_default(), task.is_none());
        Self { checkpoint, task, begun: None, between_calls, kept_at: None, of_thread: None }
    }

    /// Returns the position inside a run that runs in this task of the thread, or that is the run of the thread.
    pub(crate) fn inside(self, of_thread: Option<ThreadTask>) -> Self {
        Self { of_thread, ..self }
    }

    /// Returns the position of a task that runs at checkpoint `at`.
    pub(crate) fn running_at(self, at: CheckpointId) -> Self {
        Self { kept_at: (at != self.checkpoint).then_some(at), ..self }
    }

    /// Returns the checkpoint with the state that the task reads.
    pub(crate) fn state_at(&self) -> CheckpointId {
        self.kept_at.unwrap_or(self.checkpoint)
    }
}
