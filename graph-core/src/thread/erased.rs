//! A thread, whatever the types of its graph's state and context.

use std::sync::Arc;

use crate::checkpoint::{CheckpointError, CheckpointId, Checkpointer, Fence};
use crate::engine::TaskWrites;
use crate::engine::persist::Orphans;
use crate::error::{Error, ErrorKind};
use crate::graph::ErasedGraph;
use crate::interrupt::Answer;

use super::{AsNode, OnConflict};

/// A graph with a checkpointer.
pub(super) struct Persistent {
    pub(super) graph: ErasedGraph,
    pub(super) store: Arc<dyn Checkpointer>,
    /// `true` if new input abandons pending tasks.
    pub(super) abandon_pending: bool,
    /// The runs of this process that were dropped before their end.
    pub(super) orphans: Orphans,
}

impl Persistent {
    pub(super) fn new(graph: ErasedGraph, store: Arc<dyn Checkpointer>) -> Arc<Self> {
        Arc::new(Self { graph, store, abandon_pending: false, orphans: Orphans::default() })
    }

    pub(super) fn error(&self, error: CheckpointError) -> Error {
        self.refuse(ErrorKind::store(Arc::new(error)))
    }

    pub(super) fn refuse(&self, kind: ErrorKind) -> Error {
        Error::new(&self.graph.0.name, kind)
    }
}

/// A thread of a graph.
#[derive(Clone)]
pub(crate) struct ErasedThread {
    pub(super) graph: Arc<Persistent>,
    pub(super) name: Arc<str>,
}

/// The target of a run on a thread.
pub(super) struct OnErasedThread {
    pub(super) thread: ErasedThread,
    /// The checkpoint to begin at; `None` for the head.
    pub(super) at: Option<CheckpointId>,
    pub(super) run_id: Option<Arc<str>>,
    pub(super) on_conflict: OnConflict,
}

/// The parameters of a run that continues from its thread's head.
pub(super) struct Resume {
    pub(super) answers: Vec<Answer>,
    pub(super) update: Option<TaskWrites>,
    pub(super) goto: Vec<AsNode>,
    /// The epoch and head that the thread must still have.
    pub(super) seen: Option<Fence>,
}
