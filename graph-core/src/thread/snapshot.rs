use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::Value;

use crate::checkpoint::{CheckpointId, CheckpointSource};
use crate::engine::Metadata;
use crate::engine::persist::StoredFailure;
use crate::interrupt::OpenInterrupt;
use crate::state::GraphState;

/// A thread at one of its checkpoints.
#[derive(Clone)]
#[non_exhaustive]
pub struct Snapshot<S: GraphState> {
    /// The state; nothing at the first checkpoint of a thread, which holds an input that is still to be applied.
    ///
    /// Fields marked `from_context` are as without a context.
    pub state: Option<S>,
    /// The nodes that are planned, a name for each task, those that resumptions have added behind the others; `START` while
    /// an input waits to be applied, nothing at the end.
    pub next: Vec<Arc<str>>,
    /// The thread.
    pub thread: Arc<str>,
    /// The path of subgraph nodes; empty in the graph itself.
    pub namespace: Arc<str>,
    /// The checkpoint's id.
    pub id: CheckpointId,
    /// The checkpoint that it follows; it may have been pruned.
    pub parent: Option<CheckpointId>,
    /// Of a call of a subgraph: the checkpoints of the graphs around it that have planned the tasks which it is within, by
    /// their namespaces. They may have been pruned; what was around one that was is not known any more.
    pub parents: BTreeMap<Arc<str>, CheckpointId>,
    /// What made it.
    pub source: CheckpointSource,
    /// −1 for the first input of a thread, 0 once it is applied, and so on; 0 for the update that a thread begins with.
    pub step: i64,
    /// The run that made it. A resumption belongs to the run that it goes on with.
    pub run_id: Arc<str>,
    /// Whether the graph that wrote it had other nodes, or other ways between them, than this one: as that of an older program
    /// had. What is planned here may have another name by now ([`alias`](crate::StateGraph::alias)), or be
    /// [gone](crate::ErrorKind::NodeRemoved).
    pub graph_changed: bool,
    /// The keys and values that the run, or the resumption, was given.
    pub metadata: Metadata,
    /// When it was made.
    pub created_at: SystemTime,
    /// What is known of the planned tasks, in the order of `next`.
    pub tasks: Vec<TaskSnapshot<S>>,
    /// The joins that some of their sources have reached, and not all.
    pub joins: Vec<JoinSnapshot>,
}

/// A join that waits for the rest of its sources.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct JoinSnapshot {
    /// Its target; `END` for the end.
    pub to: Arc<str>,
    /// The sources that have finished since it was last full.
    pub arrived: Vec<Arc<str>>,
    /// The sources that it waits for.
    pub missing: Vec<Arc<str>>,
    /// Whether a run may end while it waits.
    pub optional: bool,
}

/// A planned task, as far as it has come.
#[derive(Clone)]
#[non_exhaustive]
pub struct TaskSnapshot<S: GraphState> {
    /// Its id.
    pub id: String,
    /// Its node.
    pub node: Arc<str>,
    /// What it was sent.
    pub packet: Option<Value>,
    /// How it failed last.
    pub error: Option<TaskError>,
    /// The questions that it waits for.
    pub interrupts: Vec<OpenInterrupt>,
    /// What it has written, if it has finished and its superstep has not.
    pub result: Option<S::Update>,
}

/// How a task failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskError {
    /// The error and its causes.
    pub text: String,
    /// Which attempt it was, from 1.
    pub attempt: u32,
    /// Whether the node panicked.
    pub panicked: bool,
    /// When its [policy](crate::policy::Policy::retry) has it tried again; nothing where its run has failed with it.
    pub retry_at: Option<SystemTime>,
}

impl From<StoredFailure> for TaskError {
    fn from(failure: StoredFailure) -> Self {
        let retry_at = failure.retry_at();
        let StoredFailure { error: text, attempt, panicked, .. } = failure;
        Self { text, attempt, panicked, retry_at }
    }
}

impl<S: GraphState> Snapshot<S> {
    /// Whether the thread has come to its end here: nothing is planned, and no join waits that may not.
    ///
    /// Where nothing is planned and a join waits, going on fails with [`JoinNotFilled`](crate::ErrorKind::JoinNotFilled),
    /// which says what to do about it.
    pub fn is_finished(&self) -> bool {
        self.next.is_empty() && self.joins.iter().all(|join| join.optional)
    }

    /// The open questions of all tasks.
    pub fn interrupts(&self) -> impl Iterator<Item = &OpenInterrupt> {
        self.tasks.iter().flat_map(|task| &task.interrupts)
    }
}

impl<S: GraphState> fmt::Debug for Snapshot<S> {
    /// The state by its dump rules: what it keeps to itself does not get into logs.
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
            .finish_non_exhaustive()
    }
}
