use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use serde_json::Value;

use crate::checkpoint::{CheckpointId, Payload};
use crate::engine::policy::Tries;

/// What is known of a task from its earlier attempts.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    /// By the question's id.
    pub(crate) answers: HashMap<String, Answered>,
    /// What finished durable steps came to, by key.
    pub(crate) steps: HashMap<String, Payload>,
    /// The keys of those whose result is not known to be durable: it was still being written when the attempt ended.
    pub(crate) unsaved: HashSet<String>,
    /// How far it has come, where its node has a policy.
    pub(crate) tries: Tries,
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
        Self { current: Mutex::default(), scope: OnceLock::from(scope.into()) }
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
        match &self.at(step).origin {
            Some(origin) => format!("{origin}:{task}"),
            None => format!("{step}:{task}"),
        }
    }

    /// What tells this run's idempotency keys from those of others: its thread; made up for a run without one.
    pub(super) fn scope(&self) -> &str {
        self.scope.get_or_init(|| ulid::Ulid::generate().to_string().into())
    }
}
