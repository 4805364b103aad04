use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The abandoned runs of this process: runs that were dropped before their end. No process executes such a run,
/// unless another run has taken over its thread since.
///
/// A run whose process died is not included, because it cannot be distinguished from a slow one.
#[derive(Clone, Default)]
pub(crate) struct Orphans(Arc<Mutex<Epochs>>);

/// The epoch in which each run wrote, by thread and run.
type Epochs = HashMap<(Arc<str>, Arc<str>), u64>;

/// The maximum number of abandoned runs kept. At the limit all are forgotten, and treated like runs of other
/// processes.
const MOST: usize = 1024;

impl Orphans {
    /// Returns `true` if the run was abandoned and its epoch is still the thread's.
    pub(crate) fn has(&self, thread: &Arc<str>, run: &Arc<str>, epoch: u64) -> bool {
        self.lock().get(&(Arc::clone(thread), Arc::clone(run))) == Some(&epoch)
    }

    fn lock(&self) -> MutexGuard<'_, Epochs> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Registers its run as abandoned when it is dropped before the run's end.
pub(super) struct Watch {
    pub(super) orphans: Orphans,
    pub(super) thread: Arc<str>,
    pub(super) run: Arc<str>,
    pub(super) epoch: u64,
    pub(super) ended: bool,
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut orphans = self.orphans.lock();
        if self.ended && orphans.is_empty() {
            return;
        }
        let run = (Arc::clone(&self.thread), Arc::clone(&self.run));
        if self.ended {
            orphans.remove(&run);
            return;
        }
        if orphans.len() >= MOST {
            orphans.clear();
        }
        orphans.insert(run, self.epoch);
    }
}
