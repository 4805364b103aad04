use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Runs that were dropped in this process before they had come to an end: nobody is at them, unless the thread has been
/// taken over since.
///
/// A run that has died with its process is none of them: nothing tells it from one that is slow.
#[derive(Clone, Default)]
pub(crate) struct Orphans(Arc<Mutex<Epochs>>);

/// By thread and run, the epoch in which it wrote.
type Epochs = HashMap<(Arc<str>, Arc<str>), u64>;

/// So many are remembered. When there are more all are forgotten, and waited for like those of other processes.
const MOST: usize = 1024;

impl Orphans {
    /// Whether a run is one, and its epoch still the thread's.
    pub(crate) fn has(&self, thread: &Arc<str>, run: &Arc<str>, epoch: u64) -> bool {
        self.lock().get(&(Arc::clone(thread), Arc::clone(run))) == Some(&epoch)
    }

    fn lock(&self) -> MutexGuard<'_, Epochs> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes an orphan of its run, unless that has come to an end before it is dropped.
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
