//! Memory for the writes of tasks, reused instead of freed.

use std::sync::{Arc, Mutex};

use crate::erased::TaskWrites;

/// The memory that the runs of a graph leave to later ones.
#[derive(Default)]
pub(crate) struct SparePool(Mutex<Vec<TaskWrites>>);

/// The maximum number of updates whose memory is kept between runs, and after a wider superstep.
const MOST_KEPT: usize = 256;

/// The memory for the writes of a run's next tasks.
pub(crate) struct Spares {
    /// The memory for a task that is alone in its superstep.
    one: TaskWrites,
    spares: Vec<TaskWrites>,
    /// The largest number of tasks of a superstep so far.
    most_tasks: usize,
    pool: Arc<SparePool>,
}

impl Spares {
    pub(crate) fn new(pool: &Arc<SparePool>) -> Self {
        Self { one: TaskWrites::default(), spares: Vec::new(), most_tasks: 0, pool: Arc::clone(pool) }
    }

    /// Gets memory for this number of tasks from earlier runs, as far as there is any.
    pub(crate) fn reserve(&mut self, tasks: usize) {
        let missing = tasks.saturating_sub(self.spares.len());
        if missing > 1
            && let Ok(mut pool) = self.pool.0.try_lock()
        {
            let kept = pool.len().saturating_sub(missing);
            self.spares.extend(pool.drain(kept..));
        }
    }

    /// Returns memory for the writes of one task, or empty writes, which have none yet.
    #[inline]
    pub(crate) fn take(&mut self) -> TaskWrites {
        if self.one.has_memory() {
            return std::mem::take(&mut self.one);
        }
        self.spares.pop().unwrap_or_default()
    }

    /// Takes back what [`take`](Self::take) has returned, with no writes in it.
    #[inline]
    pub(crate) fn give_back(&mut self, spare: TaskWrites) {
        self.one = spare;
    }

    /// Takes the memory of writes that were applied.
    #[inline]
    pub(crate) fn give(&mut self, writes: TaskWrites) {
        if writes.is_spare() {
            self.spares.push(writes);
        }
    }

    /// Frees the memory that no superstep of the run has needed so far, and most of that of a wider superstep than the
    /// last, which had this number of tasks.
    pub(crate) fn limit(&mut self, tasks: usize) {
        self.most_tasks = self.most_tasks.max(tasks);
        self.spares.truncate(self.most_tasks.min(tasks.max(MOST_KEPT)));
    }
}

impl Drop for Spares {
    fn drop(&mut self) {
        // The memory of a single task is not worth the lock.
        if self.spares.len() > 1
            && let Ok(mut pool) = self.pool.0.try_lock()
        {
            let room = MOST_KEPT.saturating_sub(pool.len());
            pool.extend(self.spares.drain(..).take(room));
        }
    }
}
