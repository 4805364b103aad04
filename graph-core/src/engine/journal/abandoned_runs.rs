use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The abandoned runs of this process: runs that were dropped before their end. No process executes such a run,
/// unless another run has taken over its thread since.
///
/// A run whose process died is not included, because it cannot be distinguished from a slow one.
#[derive(Clone, Default)]
pub(crate) struct AbandonedRuns(Arc<Mutex<Epochs>>);

/// The epoch in which each run wrote, by thread and run.
type Epochs = HashMap<(Arc<str>, Arc<str>), u64>;

/// The maximum number of abandoned runs kept. At the limit all are forgotten, and treated like runs of other
/// processes.
const MOST: usize = 1024;

impl AbandonedRuns {
    /// Returns `true` if the run was abandoned and its epoch is still the thread's.
    pub(crate) fn has(&self, thread: &Arc<str>, run: &Arc<str>, epoch: u64) -> bool {
        self.lock().get(&(Arc::clone(thread), Arc::clone(run))) == Some(&epoch)
    }

    fn lock(&self) -> MutexGuard<'_, Epochs> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Registers its run as abandoned when it is dropped before the run's end.
pub(crate) struct Watch {
    pub(crate) abandoned: AbandonedRuns,
    pub(crate) thread: Arc<str>,
    pub(crate) run: Arc<str>,
    pub(crate) epoch: u64,
    pub(crate) ended: bool,
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut abandoned = self.abandoned.lock();
        if self.ended && abandoned.is_empty() {
            return;
        }
        let run = (Arc::clone(&self.thread), Arc::clone(&self.run));
        if self.ended {
            abandoned.remove(&run);
            return;
        }
        if abandoned.len() >= MOST {
            abandoned.clear();
        }
        abandoned.insert(run, self.epoch);
    }
}
