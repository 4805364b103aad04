use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use superstep_store::checkpoint::RunRecord;

/// The last run of each thread, with its row in the database.
#[derive(Default)]
pub(super) struct KnownRuns(Mutex<HashMap<Arc<str>, KnownRun>>);

/// A run, with its row in the database.
type KnownRun = (Arc<RunRecord>, i64);

impl KnownRuns {
    /// Returns the row of a run, if the database has it.
    pub(super) fn id(&self, thread: &str, run: &Arc<RunRecord>) -> Option<i64> {
        let runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (known, id) = runs.get(thread)?;
        (Arc::ptr_eq(known, run) || known == run).then_some(*id)
    }

    pub(super) fn remember(&self, thread: &Arc<str>, run: &Arc<RunRecord>, id: i64) {
        /// Threads that are not written to any more stay until the next clearing.
        const MAX_THREADS: usize = 4_096;
        let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if runs.len() >= MAX_THREADS && !runs.contains_key(thread) {
            runs.clear();
        }
        runs.insert(Arc::clone(thread), (Arc::clone(run), id));
    }
}
