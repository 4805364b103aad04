//! A thread, whatever the types of its graph's state and context.

use std::sync::Arc;

use crate::checkpoint::{CheckpointError, CheckpointId, Checkpointer, Conflict, Fence};
use crate::engine::{AbandonedRuns, ErasedGraph};
use crate::erased::TaskWrites;
use crate::error::{Error, ErrorKind};
use crate::interrupt::Answer;

use super::{Goto, OnConflict};

/// A graph with a checkpointer.
pub(crate) struct Persistent {
    pub(crate) graph: ErasedGraph,
    pub(crate) store: Arc<dyn Checkpointer>,
    /// `true` if new input abandons pending tasks.
    pub(crate) abandon_pending: bool,
    /// The runs of this process that were dropped before their end.
    pub(crate) abandoned: AbandonedRuns,
}

impl Persistent {
    pub(crate) fn new(graph: ErasedGraph, store: Arc<dyn Checkpointer>) -> Arc<Self> {
        Arc::new(Self { graph, store, abandon_pending: false, abandoned: AbandonedRuns::default() })
    }

    pub(crate) fn error(&self, error: CheckpointError) -> Error {
        self.refuse(ErrorKind::store(Arc::new(error)))
    }

    pub(crate) fn refuse(&self, kind: ErrorKind) -> Error {
        Error::new(&self.graph.0.name, kind)
    }
}

/// A thread of a graph.
#[derive(Clone)]
pub(crate) struct ErasedThread {
    pub(crate) graph: Arc<Persistent>,
    pub(crate) name: Arc<str>,
}

/// The state in which a caller expects a thread.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Expected {
    pub(crate) epoch: Option<u64>,
    /// The epoch and the head that the caller has seen.
    pub(crate) fence: Option<Fence>,
}

impl Expected {
    /// Fails with a conflict if the thread was found in another state.
    pub(crate) fn check(&self, thread: &ErasedThread, found: Fence) -> Result<(), Error> {
        let expected = self.fence.unwrap_or(found);
        let expected = Fence::new(self.epoch.unwrap_or(expected.epoch), expected.head);
        if expected == found {
            return Ok(());
        }
        let conflict = Conflict::new(Arc::clone(&thread.name), "", expected, found);
        Err(thread.graph.error(CheckpointError::conflict(conflict)))
    }
}

/// The target of a run on a thread.
pub(crate) struct OnErasedThread {
    pub(crate) thread: ErasedThread,
    /// The checkpoint to begin at; `None` for the head.
    pub(crate) at: Option<CheckpointId>,
    pub(crate) run_id: Option<Arc<str>>,
    pub(crate) on_conflict: OnConflict,
    pub(crate) expected: Expected,
}

/// The parameters of a run that continues from its thread's head.
pub(crate) struct Resume {
    pub(crate) answers: Vec<Answer>,
    pub(crate) update: Option<TaskWrites>,
    pub(crate) goto: Vec<Goto>,
    pub(crate) idempotency_key: Option<Arc<str>>,
}
