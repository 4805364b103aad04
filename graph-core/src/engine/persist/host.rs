use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::checkpoint::{CheckpointId, RunRecord};

use super::journal::Shared;

/// What runs within the tasks of a stored run need of it.
pub(crate) struct Host {
    pub(super) shared: Arc<Shared>,
    pub(super) run: Arc<RunRecord>,
    /// The namespaces that calls are writing to.
    pub(super) busy: Arc<Mutex<HashSet<Arc<str>>>>,
}

/// A namespace that a call is writing to, until it is dropped.
pub(crate) struct Lease {
    busy: Arc<Mutex<HashSet<Arc<str>>>>,
    namespace: Arc<str>,
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.busy.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.namespace);
    }
}

/// Two calls at once would each go on with what the other has left.
#[derive(Debug, thiserror::Error)]
#[error(
    "two tasks of the superstep call the subgraph stored as `{namespace}` at once, which keeps one state on the thread: give \
     their calls different keys"
)]
pub(super) struct Busy {
    namespace: Arc<str>,
}

impl Host {
    /// Takes a namespace for a call.
    pub(super) fn lease(&self, namespace: &Arc<str>) -> Result<Lease, Busy> {
        let taken = self.busy.lock().unwrap_or_else(PoisonError::into_inner).insert(Arc::clone(namespace));
        if !taken {
            return Err(Busy { namespace: Arc::clone(namespace) });
        }
        Ok(Lease { busy: Arc::clone(&self.busy), namespace: Arc::clone(namespace) })
    }

    /// The namespace that the run is stored in.
    pub(crate) fn namespace(&self) -> &str {
        self.shared.namespace()
    }
}

/// The task that a run is within, as its checkpoints hold it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Under {
    /// The checkpoint that has planned the task.
    pub(crate) checkpoint: CheckpointId,
    /// Its place in the superstep.
    pub(crate) task: usize,
    /// The checkpoint of the run within at which its input had been applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) begun: Option<CheckpointId>,
    /// It is within no task: somebody has written what the next call begins with, when the run around it stood there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) between: bool,
}

impl Under {
    /// Whether both are within the same task.
    pub(crate) fn is_within(&self, other: &Self) -> bool {
        (self.checkpoint, self.task, self.between) == (other.checkpoint, other.task, other.between)
    }

    /// Of a task of a checkpoint, or of none of them.
    pub(crate) fn at(checkpoint: CheckpointId, task: Option<usize>) -> Self {
        Self { checkpoint, task: task.unwrap_or_default(), begun: None, between: task.is_none() }
    }
}
