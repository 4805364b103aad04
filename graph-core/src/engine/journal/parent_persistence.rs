use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use crate::checkpoint::RunRecord;

use super::handle::JournalHandle;

/// The persistence of a parent run, as the subgraph runs of its tasks use it.
pub(crate) struct ParentPersistence {
    pub(crate) shared: Arc<JournalHandle>,
    pub(crate) run: Arc<RunRecord>,
    /// The namespaces that subgraph calls are writing to.
    pub(crate) busy: Arc<Mutex<HashSet<Arc<str>>>>,
}

/// A lock on a namespace, held by the subgraph call that writes to it.
pub(crate) struct NamespaceLock {
    busy: Arc<Mutex<HashSet<Arc<str>>>>,
    namespace: Arc<str>,
}

impl Drop for NamespaceLock {
    fn drop(&mut self) {
        self.busy.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.namespace);
    }
}

/// Two tasks of a superstep call a subgraph that keeps one state. Each call would continue from the other's state.
#[derive(Debug, thiserror::Error)]
#[error(
    "two tasks of the superstep call the subgraph in namespace `{namespace}`, which keeps one state per thread: give \
     the calls different keys"
)]
pub(crate) struct Busy {
    namespace: Arc<str>,
}

impl ParentPersistence {
    /// Locks a namespace for a call.
    pub(crate) fn lock(&self, namespace: &Arc<str>) -> Result<NamespaceLock, Busy> {
        let taken = self.busy.lock().unwrap_or_else(PoisonError::into_inner).insert(Arc::clone(namespace));
        if !taken {
            return Err(Busy { namespace: Arc::clone(namespace) });
        }
        Ok(NamespaceLock { busy: Arc::clone(&self.busy), namespace: Arc::clone(namespace) })
    }

    /// Returns the namespace in which the run is stored.
    pub(crate) fn namespace(&self) -> &str {
        self.shared.namespace()
    }
}
