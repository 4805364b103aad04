use std::any::Any;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::SystemTime;

use serde_json::Value;

use crate::cache::EntryKey;
use crate::checkpoint::CheckpointId;
use crate::engine::policy::Tries;
use crate::payload::Payload;

/// What is known of a task from its earlier attempts.
#[derive(Default)]
pub(crate) struct Memo {
    /// By the question's id.
    pub(crate) answers: HashMap<String, Answered>,
    /// What finished durable steps came to, by key.
    pub(crate) steps: HashMap<String, Payload>,
    /// The keys of those whose result is not known to be durable: it was still being written when the attempt ended.
    pub(crate) unsaved: HashSet<String>,
    /// How far it has come, where its node has a policy.
    pub(crate) tries: Tries,
    /// The run within the task, as its last attempt has left it, where it is not stored.
    pub(crate) aside: Option<Box<dyn Any + Send>>,
    /// When its sleeps are over, in milliseconds.
    pub(crate) sleeps: HashMap<String, u64>,
    /// Until when the task sleeps that is suspended.
    pub(crate) asleep: Option<SystemTime>,
    /// What the cache has to do with it, where its node has a cache policy.
    pub(crate) cache: Option<Box<CacheMemo>>,
}

/// What becomes of a task's result in the cache.
pub(crate) struct CacheMemo {
    /// Where its result belongs.
    pub(crate) at: EntryKey,
    pub(crate) result: CacheResult,
}

/// A result, as a cache sees it.
pub(crate) enum CacheResult {
    /// There is none yet, or none to be kept.
    None,
    /// It was there.
    Found,
    /// The node has returned it; it is kept once it has been applied.
    Made(Payload),
    /// The node has returned what cannot be kept: why not.
    Unfit(String),
}

impl std::fmt::Debug for Memo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Memo").field("steps", &self.steps.len()).finish_non_exhaustive()
    }
}

impl CacheResult {
    pub(crate) fn was_found(&self) -> bool {
        matches!(self, Self::Found)
    }
}

/// An answer, and the question as it was when it was answered.
#[derive(Clone, Debug)]
pub(crate) struct Answered {
    pub(crate) question: Value,
    pub(crate) answer: Value,
}

/// The memos of a superstep's tasks. Those of the superstep before go when the first of the next is needed: a run that
/// never asks pays nothing.
#[derive(Debug, Default)]
pub(crate) struct Memos {
    current: Mutex<Current>,
    scope: OnceLock<Arc<str>>,
    /// What the ids of tasks begin with where no checkpoint has planned them: the task that the run is within.
    within: Option<String>,
}

#[derive(Debug, Default)]
struct Current {
    step: u64,
    /// What stands for the superstep in ids; its number unless it is said.
    origin: Option<CheckpointId>,
    tasks: HashMap<usize, Memo>,
}

impl Memos {
    /// Of a run in this scope.
    pub(crate) fn within(scope: impl Into<Arc<str>>) -> Self {
        Self { current: Mutex::default(), scope: OnceLock::from(scope.into()), within: None }
    }

    /// Of a run within a task.
    pub(crate) fn beneath(self, task: &str) -> Self {
        Self { within: Some(task.to_owned()), ..self }
    }

    /// Lays aside what is left of a task's attempt; nothing once the run has come further.
    pub(crate) fn lay_aside(&self, step: u64, task: usize, aside: Box<dyn Any + Send>) {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if current.step == step {
            current.tasks.entry(task).or_default().aside = Some(aside);
        }
    }

    fn at(&self, step: u64) -> MutexGuard<'_, Current> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if current.step != step {
            *current = Current { step, ..Current::default() };
        }
        current
    }

    /// Begins a superstep that the checkpoint of this id has planned.
    pub(crate) fn begin(&self, step: u64, origin: CheckpointId) {
        self.at(step).origin = Some(origin);
    }

    /// Looks into, or changes, a task's memo.
    pub(crate) fn of<T>(&self, step: u64, task: usize, look: impl FnOnce(&mut Memo) -> T) -> T {
        look(self.at(step).tasks.entry(task).or_default())
    }

    /// The task's id.
    pub(crate) fn task_id(&self, step: u64, task: usize) -> String {
        match (&self.at(step).origin, &self.within) {
            (Some(origin), _) => format!("{origin}:{task}"),
            (None, None) => format!("{step}:{task}"),
            (None, Some(within)) => format!("{within}>{step}:{task}"),
        }
    }

    /// What tells this run's idempotency keys from those of others: its thread; made up for a run without one.
    pub(super) fn scope(&self) -> &str {
        self.scope.get_or_init(|| ulid::Ulid::generate().to_string().into())
    }
}
