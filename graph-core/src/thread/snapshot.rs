use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::Value;

use crate::checkpoint::{CheckpointId, CheckpointSource};
use crate::engine::StoredFailure;
use crate::interrupt::OpenInterrupt;
use crate::options::Metadata;
use crate::state::GraphState;

/// The readable form of a checkpoint: the state, the planned tasks and their progress.
#[derive(Clone)]
#[non_exhaustive]
pub struct Snapshot<S: GraphState> {
    /// The state. `None` at the first checkpoint of a thread, whose input is not applied yet.
    ///
    /// Fields marked `from_context` have the values that they have without a context.
    pub state: Option<S>,
    /// The nodes of the planned tasks, one name for each task. Tasks that a resumption added come last.
    ///
    /// Some of the tasks may have finished; [`pending`](Self::pending) returns the others. `START` if an input waits to be applied. Empty at a final checkpoint.
    pub next: Vec<Arc<str>>,
    /// The thread's name.
    pub thread: Arc<str>,
    /// The path of subgraph nodes; empty for the thread's own graph.
    pub namespace: Arc<str>,
    /// The epoch of the thread when the snapshot was read: the number of runs and updates that have taken it over.
    ///
    /// It belongs to the thread, so it is the same for all checkpoints. [`if_epoch`](crate::run::Run::if_epoch) refuses a
    /// call if another run or update has taken over since.
    pub epoch: u64,
    /// The checkpoint's id.
    pub id: CheckpointId,
    /// The checkpoint that it follows, which may have been pruned.
    pub parent: Option<CheckpointId>,
    /// For a subgraph call: by namespace, the checkpoints of the parent graphs that planned the call.
    ///
    /// These checkpoints may have been pruned. The parents of a pruned checkpoint are not known.
    pub parents: BTreeMap<Arc<str>, CheckpointId>,
    /// The operation that made the checkpoint.
    pub source: CheckpointSource,
    /// The step number: −1 for the first input of a thread, 0 after it is applied, then one more for each superstep.
    ///
    /// If a thread begins with an update, that update is step 0.
    pub step: i64,
    /// The run that made the checkpoint. A resumption belongs to the run that it continues.
    pub run_id: Arc<str>,
    /// `true` if the graph that wrote the checkpoint had other nodes, edges or routes than this one.
    ///
    /// A planned node may have a new name ([`alias`](crate::StateGraph::alias)), or may have been
    /// [removed](crate::ErrorKind::NodeRemoved).
    pub graph_changed: bool,
    /// The metadata of the run or resumption that made the checkpoint.
    pub metadata: Metadata,
    /// The time at which the checkpoint was made.
    pub created_at: SystemTime,
    /// The nodes on whose behalf an update from outside was made, one for each update of the superstep, or `START` or
    /// `END`. Empty unless the source is `Update`.
    pub updated_as: Vec<Arc<str>>,
    /// The planned tasks, in the order of `next`.
    pub tasks: Vec<TaskSnapshot<S>>,
    /// The joins that some, but not all, of their sources have reached.
    pub joins: Vec<JoinSnapshot>,
}

/// A join that still waits for some of its sources.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct JoinSnapshot {
    /// The join's target node, or `END`.
    pub to: Arc<str>,
    /// The sources that have finished since the join last planned its target.
    pub arrived: Vec<Arc<str>>,
    /// The sources that the join waits for.
    pub missing: Vec<Arc<str>>,
    /// `true` if a run may finish while the join waits.
    pub optional: bool,
}

/// The progress of a planned task.
///
/// A task is *pending* until it has finished. A pending task may have open interrupts: then it waits for their answers.
/// All other pending tasks run when the thread is resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TaskStatus {
    /// The task is pending, and runs when the thread is resumed.
    Planned,
    /// The task is pending, and its open interrupts wait for answers.
    WaitingForAnswer,
    /// The task is pending, and its last attempt has failed. It runs again when the thread is resumed.
    Failed,
    /// The task has finished. Its result waits for the other tasks of the superstep, or the superstep was applied.
    Finished,
}

impl TaskStatus {
    /// Returns the status of a task.
    pub(super) fn of(is_finished: bool, is_asking: bool, has_failed: bool) -> Self {
        // An earlier error stays known after the task has run again, so it is checked last.
        match (is_finished, is_asking, has_failed) {
            (true, ..) => Self::Finished,
            (_, true, _) => Self::WaitingForAnswer,
            (_, _, true) => Self::Failed,
            _ => Self::Planned,
        }
    }

    /// Returns the name: `planned`, `waiting_for_answer`, `failed` or `finished`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Planned => "planned",
            Self::WaitingForAnswer => "waiting_for_answer",
            Self::Failed => "failed",
            Self::Finished => "finished",
        }
    }

    /// Returns `true` if the task has not finished.
    pub const fn is_pending(self) -> bool {
        !matches!(self, Self::Finished)
    }
}

/// A planned task and its progress.
#[derive(Clone)]
#[non_exhaustive]
pub struct TaskSnapshot<S: GraphState> {
    /// The task's id: that of the checkpoint that planned it first, and its place.
    pub id: String,
    /// The name of the task's node.
    pub node: Arc<str>,
    /// The packet that the task was sent, if any.
    pub packet: Option<Value>,
    /// The task's last failure.
    pub error: Option<TaskError>,
    /// The open interrupts of the task.
    pub interrupts: Vec<OpenInterrupt>,
    /// The task's update, if the task has finished; an update without writes if it wrote nothing.
    ///
    /// It stays readable after the superstep was applied. The result of `START` is the input. See also
    /// [`whole_values`](Self::whole_values).
    pub result: Option<S::Update>,
    /// The fields of which `result` has the value after the superstep, as an overwrite. Fields that a dump leaves out are
    /// not named.
    ///
    /// The store keeps some fields as whole values, for example those with the reducer `max`. The write of the last task
    /// of a superstep to such a field is then not stored by itself.
    pub whole_values: Vec<Arc<str>>,
}

/// The failure of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskError {
    /// The name of the task's node.
    pub node: Arc<str>,
    /// The message of the error and its causes.
    pub text: String,
    /// The attempt number, from 1.
    pub attempt: u32,
    /// `true` if the node panicked.
    pub panicked: bool,
    /// The name of the type of the node's error; see [`NodeFailure::error_type`](crate::NodeFailure::error_type).
    pub error_type: Option<String>,
    /// The time of the next attempt by the [retry policy](crate::policy::Policy::retry), or `None` if the run has failed.
    pub retry_at: Option<SystemTime>,
}

impl TaskError {
    pub(super) fn of(node: &Arc<str>, failure: StoredFailure) -> Self {
        let retry_at = failure.retry_at();
        let StoredFailure { error: text, attempt, panicked, error_type, .. } = failure;
        Self { node: Arc::clone(node), text, attempt, panicked, error_type, retry_at }
    }
}

impl<S: GraphState> Snapshot<S> {
    /// Returns `true` if the thread is finished here: no task is planned, and no required join waits.
    ///
    /// If a required join waits, resuming fails with [`JoinNotFilled`](crate::ErrorKind::JoinNotFilled), which lists the ways
    /// to continue.
    pub fn is_finished(&self) -> bool {
        self.next.is_empty() && self.joins.iter().all(|join| join.optional)
    }

    /// Returns the pending tasks: those that were planned and have not finished.
    ///
    /// Those with open interrupts wait for answers. At an older checkpoint, these are the tasks that were given up or that
    /// another branch has run again.
    pub fn pending(&self) -> impl Iterator<Item = &TaskSnapshot<S>> {
        self.tasks.iter().filter(|task| task.status().is_pending())
    }

    /// Returns the open interrupts of all tasks. Only those of the thread's head can be answered.
    pub fn interrupts(&self) -> impl Iterator<Item = &OpenInterrupt> {
        self.tasks.iter().flat_map(|task| &task.interrupts)
    }
}

impl<S: GraphState> TaskSnapshot<S> {
    /// Returns the progress of the task.
    pub fn status(&self) -> TaskStatus {
        TaskStatus::of(self.result.is_some(), !self.interrupts.is_empty(), self.error.is_some())
    }
}

impl<S: GraphState> fmt::Debug for Snapshot<S> {
    /// Formats the state by its dump rules, so that excluded fields do not get into logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot")
            .field("thread", &self.thread)
            .field("id", &self.id)
            .field("parent", &self.parent)
            .field("parents", &self.parents)
            .field("source", &self.source)
            .field("step", &self.step)
            .field("next", &self.next)
            .field("state", &self.state.as_ref().map(GraphState::dump))
            .field("tasks", &self.tasks)
            .field("joins", &self.joins)
            .finish_non_exhaustive()
    }
}

impl<S: GraphState> fmt::Debug for TaskSnapshot<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskSnapshot")
            .field("id", &self.id)
            .field("node", &self.node)
            .field("error", &self.error)
            .field("interrupts", &self.interrupts)
            .field("result", &self.result)
            .field("whole_values", &self.whole_values)
            .finish_non_exhaustive()
    }
}
