use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::Value;

use crate::checkpoint::{CheckpointId, CheckpointSource};
use crate::engine::{ErasedState, Metadata, TaskWrites};
use crate::error::ErrorKind;
use crate::interrupt::OpenInterrupt;
use crate::state::GraphState;
use crate::state::erase::{WritesOf, owned};

use super::{JoinSnapshot, Snapshot, TaskError, TaskSnapshot, TaskStatus};

/// A [`Snapshot`], whatever the type of its state.
pub(crate) struct RawSnapshot {
    pub(super) state: Option<Arc<dyn ErasedState>>,
    pub(super) next: Vec<Arc<str>>,
    pub(super) thread: Arc<str>,
    pub(super) namespace: Arc<str>,
    pub(super) id: CheckpointId,
    pub(super) parent: Option<CheckpointId>,
    pub(super) parents: BTreeMap<Arc<str>, CheckpointId>,
    pub(super) source: CheckpointSource,
    pub(super) step: i64,
    pub(super) run_id: Arc<str>,
    pub(super) graph_changed: bool,
    pub(super) metadata: Metadata,
    pub(super) created_at: SystemTime,
    pub(super) tasks: Vec<RawTask>,
    pub(super) joins: Vec<JoinSnapshot>,
}

/// A [`TaskSnapshot`], whatever the type of its update.
pub(crate) struct RawTask {
    pub(super) id: String,
    pub(super) node: Arc<str>,
    pub(super) packet: Option<Value>,
    pub(super) error: Option<TaskError>,
    pub(super) interrupts: Vec<OpenInterrupt>,
    pub(super) result: Option<TaskWrites>,
}

impl RawSnapshot {
    /// Returns the snapshot with its type.
    ///
    /// # Errors
    /// The state is of another type.
    pub(super) fn typed<S: GraphState>(self) -> Result<Snapshot<S>, ErrorKind> {
        let Self { state, next, thread, namespace, id, parent, parents, source, step, run_id, .. } = self;
        let Self { graph_changed, metadata, created_at, tasks, joins, .. } = self;
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
            id,
            parent,
            parents,
            source,
            step,
            run_id,
            graph_changed,
            metadata,
            created_at,
            tasks: typed,
            joins,
        })
    }
}

impl RawTask {
    pub(super) fn status(&self) -> TaskStatus {
        TaskStatus::of(self.result.is_some(), !self.interrupts.is_empty(), self.error.is_some())
    }

    fn typed<S: GraphState>(self) -> TaskSnapshot<S> {
        let Self { id, node, packet, error, interrupts, result } = self;
        TaskSnapshot { id, node, packet, error, interrupts, result: result.map(WritesOf::<S>::typed) }
    }
}
