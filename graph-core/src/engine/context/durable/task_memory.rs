use std::any::Any;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::SystemTime;

use serde_json::Value;

use crate::cache::EntryKey;
use crate::checkpoint::CheckpointId;
use crate::interrupt::OpenInterrupt;
use crate::payload::Payload;

use super::retry_progress::RetryProgress;
use super::timer::Timer;

/// The prefix of the keys of an error handler's steps and sleeps, which separates them from those of the node.
pub(super) const OF_HANDLER: char = '\u{1}';

/// The data that a task keeps between its attempts.
#[derive(Default)]
pub(crate) struct TaskMemory {
    /// Answers by interrupt id.
    pub(crate) answers: HashMap<String, Answered>,
    /// The results of finished durable steps, by key.
    pub(crate) steps: HashMap<String, Payload>,
    /// The keys of steps whose result may not be durable, because the attempt ended while it was being written.
    pub(crate) unsaved: HashSet<String>,
    /// The progress of a task whose node has a policy.
    pub(crate) retries: RetryProgress,
    /// The subgraph runs of earlier attempts that are not stored: of the task's node, and of its error handler.
    pub(crate) parked: HashMap<String, Box<dyn Any + Send>>,
    /// `true` if the listeners know the restored results of the task's subgraph call.
    pub(crate) has_shown_call: bool,
    /// The ids of its stored questions that are open.
    pub(crate) asked: Vec<String>,
    /// Its questions that were open when the run was restored, by id.
    pub(crate) restored: HashMap<String, OpenInterrupt>,
    /// The timers of its sleeps, by key.
    pub(crate) sleeps: HashMap<String, Timer>,
    /// The time at which a suspended task wakes.
    pub(crate) asleep: Option<SystemTime>,
    /// The cache entry of a task whose node has a cache policy.
    pub(crate) cache: Option<Box<CacheMemory>>,
}

/// The state of a task's cache entry.
pub(crate) struct CacheMemory {
    /// The key of the entry.
    pub(crate) at: EntryKey,
    pub(crate) result: CacheResult,
}

/// The relation of a task's result to the cache.
pub(crate) enum CacheResult {
    /// There is no result yet, or none to cache.
    None,
    /// The result was found in the cache.
    Found,
    /// The node returned the result. It is cached after it was applied.
    Made(Payload),
    /// The result cannot be cached, for this reason.
    Unfit(String),
}

impl std::fmt::Debug for TaskMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TaskMemory").field("steps", &self.steps.len()).finish_non_exhaustive()
    }
}

impl CacheResult {
    pub(crate) fn was_found(&self) -> bool {
        matches!(self, Self::Found)
    }
}

/// An answer, with the question as it was when it was answered.
#[derive(Clone, Debug)]
pub(crate) struct Answered {
    pub(crate) question: Value,
    pub(crate) answer: Value,
    /// The versions of the question and of the answer.
    pub(crate) versions: (u32, u32),
}

/// The data that the tasks of the current superstep keep between attempts.
///
/// Data of an earlier superstep is dropped when a later one first needs an entry, so a run without interrupts pays
/// nothing.
#[derive(Debug, Default)]
pub(crate) struct TaskMemories {
    current: Mutex<Current>,
    scope: OnceLock<Arc<str>>,
    /// The parent task's id, which is the prefix of task ids that no checkpoint has planned.
    parent_task: Option<String>,
    /// `true` if a task was given an answer, or one of its timers has fired.
    given: AtomicBool,
}

#[derive(Debug, Default)]
struct Current {
    step: u64,
    /// The checkpoint that planned the superstep. Task ids contain it, or the superstep's number if it is `None`.
    origin: Option<CheckpointId>,
    tasks: HashMap<usize, TaskMemory>,
}

impl TaskMemories {
    /// Creates an empty set for a run with this scope of idempotency keys.
    pub(crate) fn with_scope(scope: impl Into<Arc<str>>) -> Self {
        Self { scope: OnceLock::from(scope.into()), ..Self::default() }
    }

    /// Marks the run as one inside a task.
    pub(crate) fn inside_task(self, task: &str) -> Self {
        Self { parent_task: Some(task.to_owned()), ..self }
    }

    /// Begins the data of a superstep, unless it has begun.
    fn at(&self, step: u64) -> MutexGuard<'_, Current> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        // A future of an earlier superstep may be dropped late.
        if current.step < step {
            *current = Current { step, ..Current::default() };
        }
        current
    }

    /// Begins a superstep that the given checkpoint has planned.
    pub(crate) fn begin(&self, step: u64, origin: CheckpointId) {
        self.at(step).origin = Some(origin);
    }

    /// Accesses the data of a task. It is empty, and changes to it are lost, if the run has reached a later superstep.
    pub(crate) fn of<T>(&self, step: u64, task: usize, look: impl FnOnce(&mut TaskMemory) -> T) -> T {
        let mut current = self.at(step);
        if current.step > step {
            drop(current);
            return look(&mut TaskMemory::default());
        }
        look(current.tasks.entry(task).or_default())
    }

    /// Gives answers to a task.
    pub(crate) fn give(&self, step: u64, task: usize, answers: impl IntoIterator<Item = (String, Answered)>) {
        self.of(step, task, |memory| memory.answers.extend(answers));
        self.given.store(true, Ordering::Relaxed);
    }

    /// Records that a timer of a task has fired.
    pub(crate) fn note_firing(&self) {
        self.given.store(true, Ordering::Relaxed);
    }

    /// Returns `true` if a task was given an answer, or if one of its timers has fired.
    #[inline]
    pub(crate) fn were_given(&self) -> bool {
        self.given.load(Ordering::Relaxed)
    }

    /// Returns `true` for a run inside a task that is not stored.
    pub(crate) fn is_inside_task(&self) -> bool {
        self.parent_task.is_some()
    }

    /// Returns the id of a task.
    pub(crate) fn task_id(&self, step: u64, task: usize) -> String {
        let current = self.at(step);
        match (current.origin.as_ref().filter(|_| current.step == step), &self.parent_task) {
            (Some(origin), _) => format!("{origin}:{task}"),
            (None, None) => format!("{step}:{task}"),
            (None, Some(parent_task)) => format!("{parent_task}>{step}:{task}"),
        }
    }

    /// Returns the scope of the run's idempotency keys: its thread, or a random id for a run in memory.
    pub(crate) fn scope(&self) -> &str {
        self.scope.get_or_init(|| ulid::Ulid::generate().to_string().into())
    }
}

#[cfg(test)]
mod tests {
    use super::{CheckpointId, TaskMemories};

    #[test]
    fn late_access_to_an_earlier_superstep_changes_nothing() {
        let memories = TaskMemories::default();
        memories.of(1, 0, |memory| memory.asked.push("first".to_owned()));
        memories.begin(2, CheckpointId::after(None));
        let id = memories.task_id(2, 0);
        memories.of(2, 0, |memory| memory.asked.push("second".to_owned()));
        memories.of(1, 0, |memory| memory.asked.push("late".to_owned()));
        assert_eq!(memories.task_id(2, 0), id);
        memories.of(2, 0, |memory| assert_eq!(memory.asked, ["second"]));
    }
}
