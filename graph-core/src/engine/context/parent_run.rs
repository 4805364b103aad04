//! The position of a run: at the top, or inside a task of a parent run.

use std::collections::{BTreeMap, HashSet};
use std::ops::Bound;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::checkpoint::CheckpointId;
use crate::engine::journal::ParentPersistence;
use crate::options::{Durability, FailureMode, RunOptions, Stop};
use crate::stream::Sink;

use super::durable::Answered;
use super::reported_stops::ReportedStops;

/// The data that a run inherits from its parent run and passes on to the subgraph runs inside its tasks.
#[derive(Default)]
pub(crate) struct ParentRun {
    /// The subgraph nodes that contain the run, outermost first, as plain names.
    pub(crate) path: Arc<[Arc<str>]>,
    /// The ids of the tasks that have called them; empty without listeners.
    pub(crate) callers: Arc<[Arc<str>]>,
    /// The options of the run that its subgraph runs inherit.
    pub(crate) options: Inherited,
    /// The thread on which the run is stored.
    pub(crate) parent_persistence: Option<Arc<ParentPersistence>>,
    /// The listeners of the run's stream.
    pub(crate) listeners: Option<Arc<dyn Sink>>,
    /// Answers to interrupts of this run that arrived through the parent run, by interrupt id.
    pub(crate) answers: Arc<BTreeMap<String, Answered>>,
    /// The ids of the answers that subgraph runs in memory have taken, in the whole run.
    pub(crate) taken: Arc<Mutex<HashSet<String>>>,
    /// The ids of the questions that timers have withdrawn since they were open, in the whole run.
    pub(crate) withdrawn: Arc<Mutex<HashSet<String>>>,
    /// The stops of subgraph runs at breakpoints that were reported, in the whole run.
    pub(crate) reported: Arc<ReportedStops>,
    /// The prefix of ids derived from writes, in place of the thread's name: identifies the subgraph call.
    pub(crate) call: Option<Arc<str>>,
    /// Former names of the graph's nodes, with the nodes' indices.
    pub(crate) aliases: Vec<(String, usize)>,
    /// The heartbeat counters of all parent tasks.
    pub(crate) pulses: Vec<Arc<AtomicU64>>,
    /// The subgraph node that contains the run and prevents it from keeping states on the thread, with the reason.
    pub(crate) loses_state: Option<(Arc<str>, &'static str)>,
    /// The checkpoint at which a replay begins, and by namespace the checkpoints from which the calls that it has planned
    /// continue.
    pub(crate) enter: Mutex<Option<(CheckpointId, BTreeMap<String, CheckpointId>)>>,
}

impl ParentRun {
    /// Sends a heartbeat to all parent tasks.
    #[inline]
    pub(crate) fn beat(&self) {
        for pulse in &self.pulses {
            pulse.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Returns the answers for a task and for its subgraph calls.
    pub(crate) fn answers_of<'n>(
        &'n self,
        task: &'n str,
    ) -> impl Iterator<Item = (&'n String, &'n Answered)> {
        let from = self.answers.range::<str, _>((Bound::Included(task), Bound::Unbounded));
        from.take_while(move |(id, _)| id.starts_with(task))
    }

    /// Records that a subgraph run in memory has taken an answer.
    pub(crate) fn take_answer(&self, id: &str) {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).insert(id.to_owned());
    }

    /// Returns `true` if a subgraph run in memory has taken the answer.
    pub(crate) fn has_taken(&self, id: &str) -> bool {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).contains(id)
    }

    /// Records that a timer has withdrawn questions.
    pub(crate) fn withdraw(&self, questions: &[String]) {
        let mut withdrawn = self.withdrawn.lock().unwrap_or_else(PoisonError::into_inner);
        withdrawn.extend(questions.iter().cloned());
    }

    /// Records that a question is open, perhaps again.
    pub(crate) fn ask(&self, question: &str) {
        self.withdrawn.lock().unwrap_or_else(PoisonError::into_inner).remove(question);
    }

    /// Returns `true` if a timer has withdrawn the question.
    pub(crate) fn has_withdrawn(&self, question: &str) -> bool {
        self.withdrawn.lock().unwrap_or_else(PoisonError::into_inner).contains(question)
    }

    /// Makes the calls that checkpoint `at` has planned in these namespaces continue from the given checkpoints.
    pub(crate) fn replays_from(&self, at: CheckpointId, enter: BTreeMap<String, CheckpointId>) {
        if !enter.is_empty() {
            *self.enter.lock().unwrap_or_else(PoisonError::into_inner) = Some((at, enter));
        }
    }

    /// Returns the checkpoint from which a call that checkpoint `at` has planned in this namespace continues, and those
    /// of the calls inside it.
    pub(crate) fn enter(
        &self,
        at: CheckpointId,
        namespace: &str,
    ) -> Option<(CheckpointId, BTreeMap<String, CheckpointId>)> {
        let enter = self.enter.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, all) = enter.as_ref().filter(|(planned, _)| *planned == at)?;
        let is_inside = |inner: &str| inner.strip_prefix(namespace).is_some_and(|rest| rest.starts_with('/'));
        let inside = all.iter().filter(|(inner, _)| is_inside(inner));
        Some((*all.get(namespace)?, inside.map(|(inner, id)| (inner.clone(), *id)).collect()))
    }
}

/// The options that a run shares with its subgraph runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inherited {
    pub(crate) recursion_limit: u64,
    pub(crate) max_concurrency: Option<usize>,
    pub(crate) failure_mode: Option<FailureMode>,
    pub(crate) durability: Durability,
    pub(crate) stop: Option<Stop>,
    pub(crate) longest_sleep: Option<Duration>,
}

impl Inherited {
    pub(crate) fn of(options: &RunOptions) -> Self {
        Self {
            recursion_limit: options.recursion_limit,
            max_concurrency: options.max_concurrency,
            failure_mode: options.failure_mode,
            durability: options.durability,
            stop: options.stop.clone(),
            longest_sleep: options.longest_sleep,
        }
    }

    /// Returns the options of a subgraph run.
    pub(crate) fn options(&self, recursion_limit: Option<u64>) -> RunOptions {
        RunOptions {
            recursion_limit: recursion_limit.unwrap_or(self.recursion_limit),
            max_concurrency: self.max_concurrency,
            failure_mode: self.failure_mode,
            durability: self.durability,
            stop: self.stop.clone(),
            longest_sleep: self.longest_sleep,
            ..RunOptions::default()
        }
    }
}
