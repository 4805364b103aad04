use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::Value;

use crate::checkpoint::{CheckpointId, CheckpointSource};
use crate::erased::{ErasedState, TaskWrites, WritesOf, owned};
use crate::error::ErrorKind;
use crate::interrupt::OpenInterrupt;
use crate::options::Metadata;
use crate::state::GraphState;

use super::{JoinSnapshot, Snapshot, TaskError, TaskSnapshot, TaskStatus};

/// A [`Snapshot`], whatever the type of its state.
pub(crate) struct RawSnapshot {
    pub(crate) state: Option<Arc<dyn ErasedState>>,
    pub(crate) next: Vec<Arc<str>>,
    pub(crate) thread: Arc<str>,
    pub(crate) namespace: Arc<str>,
    pub(crate) epoch: u64,
    pub(crate) id: CheckpointId,
    /// The checkpoint that first planned the tasks.
    pub(crate) planned_at: CheckpointId,
    pub(crate) parent: Option<CheckpointId>,
    pub(crate) parents: BTreeMap<Arc<str>, CheckpointId>,
    pub(crate) source: CheckpointSource,
    pub(crate) step: i64,
    pub(crate) run_id: Arc<str>,
    pub(crate) graph_changed: bool,
    pub(crate) metadata: Metadata,
    pub(crate) created_at: SystemTime,
    pub(crate) updated_as: Vec<Arc<str>>,
    pub(crate) tasks: Vec<RawTask>,
    pub(crate) joins: Vec<JoinSnapshot>,
}

/// A [`TaskSnapshot`], whatever the type of its update.
pub(crate) struct RawTask {
    pub(crate) id: String,
    pub(crate) node: Arc<str>,
    pub(crate) packet: Option<Value>,
    pub(crate) error: Option<TaskError>,
    pub(crate) interrupts: Vec<OpenInterrupt>,
    pub(crate) result: Option<TaskWrites>,
    pub(crate) whole_values: Vec<Arc<str>>,
}

impl RawSnapshot {
    /// Returns the snapshot with its type.
    ///
    /// # Errors
    /// The state is of another type.
    pub(crate) fn typed<S: GraphState>(self) -> Result<Snapshot<S>, ErrorKind> {
        let Self { state, next, thread, namespace, epoch, id, parent, parents, source, step, run_id, .. } =
            self;
        let Self { graph_changed, metadata, created_at, updated_as, tasks, joins, .. } = self;
        let state = match state {
            Some(state) => Some(owned(state)?),
            None => None,
        };
        let mut typed = Vec::with_capacity(tasks.len());
        for task in tasks {
            typed.push(task.typed());
        }
        Ok(Snapshot {
            state,
            next,
            thread,
            namespace,
            epoch,
            id,
            parent,
            parents,
            source,
            step,
            run_id,
            graph_changed,
            metadata,
            created_at,
            updated_as,
            tasks: typed,
            joins,
        })
    }
}

impl RawTask {
    pub(crate) fn status(&self) -> TaskStatus {
        TaskStatus::of(self.result.is_some(), !self.interrupts.is_empty(), self.error.is_some())
    }

    fn typed<S: GraphState>(self) -> TaskSnapshot<S> {
        let Self { id, node, packet, error, interrupts, result, whole_values } = self;
        let result = result.map(WritesOf::<S>::typed);
        TaskSnapshot { id, node, packet, error, interrupts, result, whole_values }
    }
}
