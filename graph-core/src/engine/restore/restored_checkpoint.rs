use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use crate::checkpoint::{Checkpoint, CheckpointId, TaskRecord};
use crate::engine::apply::Ephemerals;
use crate::engine::context::{Answered, Timer};
use crate::engine::graph::Compiled;
use crate::engine::stored::{FieldChanges, Stopped, StoredBreakpoints, StoredFailure, requested_run};
use crate::engine::task::Finished;
use crate::erased::ErasedState;
use crate::interrupt::OpenInterrupt;
use crate::options::clock;
use crate::payload::Payload;
use crate::plan::{Progress, Task};
use crate::step::ErasedParentCommand;

/// A restored checkpoint: everything that this program needs to continue from it.
pub(crate) struct RestoredCheckpoint {
    pub(crate) checkpoint: Checkpoint,
    /// The checkpoint that first planned its tasks.
    pub(crate) planned_at: CheckpointId,
    /// The state at the checkpoint, including the updates of earlier resumes. If an input is pending, the state
    /// before that input.
    pub(crate) state: Arc<dyn ErasedState>,
    pub(crate) changes: FieldChanges,
    pub(crate) tasks: Vec<Task>,
    pub(crate) progress: Progress,
    pub(crate) ephemerals: Ephemerals,
    /// The stored progress of each task.
    pub(crate) task_progress: Vec<TaskProgress>,
    /// The input that has not been applied yet.
    pub(crate) input: Option<Finished>,
    /// The fields that the pending input sets directly, without a reducer.
    pub(crate) given: Vec<usize>,
    /// `true` if nothing of the state is stored yet.
    pub(crate) fresh: bool,
    /// The breakpoints at which the thread has stopped, or will stop next.
    pub(crate) breakpoints: Option<StoredBreakpoints>,
    /// The stop request or the sleep at which the last run has stopped.
    pub(crate) stopped: Option<Stopped>,
    /// By namespace, the checkpoints from which subgraph calls of the planned tasks continue.
    pub(crate) enter: BTreeMap<String, CheckpointId>,
    /// The commands to the parent graph that have ended the run.
    pub(crate) parent_commands: Vec<ErasedParentCommand>,
    /// The stored records.
    pub(crate) records: Vec<TaskRecord>,
}

impl RestoredCheckpoint {
    /// Returns `true` if nothing is left to run and no join waits.
    pub(crate) fn is_finished(&self, graph: &Compiled) -> bool {
        let waits = self.progress.incomplete_joins(&graph.topology).next().is_some();
        self.tasks.is_empty() && self.input.is_none() && !waits
    }

    /// Returns the id of the run that is incomplete at this checkpoint, if there is one.
    pub(crate) fn run_id(&self, graph: &Compiled) -> Option<Arc<str>> {
        let of_checkpoint = || Arc::clone(&self.checkpoint.run.id);
        (!self.is_finished(graph)).then(|| requested_run(&self.records).unwrap_or_else(of_checkpoint))
    }

    /// Returns the number of the superstep that the checkpoint follows.
    pub(crate) fn step(&self) -> u64 {
        u64::try_from(self.checkpoint.step).unwrap_or_default()
    }
}

/// The stored progress of a planned task.
#[derive(Default)]
pub(crate) struct TaskProgress {
    pub(crate) result: Option<Finished>,
    pub(crate) failure: Option<StoredFailure>,
    /// The open interrupts, in the order of asking.
    pub(crate) questions: Vec<OpenInterrupt>,
    /// The answers to its interrupts, by their ids.
    pub(crate) answers: Vec<(String, Answered)>,
    /// The results of durable steps, by key.
    pub(crate) steps: Vec<(String, Payload)>,
    /// The timers of sleeps, by key.
    pub(crate) sleeps: Vec<(String, Timer)>,
}

impl TaskProgress {
    /// Returns `true` if nothing is stored of the task.
    pub(crate) fn is_nothing(&self) -> bool {
        let Self { result, failure, questions, answers, steps, sleeps } = self;
        let asked = questions.is_empty() && answers.is_empty() && steps.is_empty() && sleeps.is_empty();
        result.is_none() && failure.is_none() && asked
    }

    /// Returns the times at which the sleeps of the task end.
    pub(crate) fn sleeps_until(&self) -> impl Iterator<Item = SystemTime> {
        self.sleeps.iter().filter_map(|(_, timer)| clock::from_millis(timer.pending()?))
    }

    /// Returns `true` if the task waits for an answer or the end of a sleep.
    pub(crate) fn waits(&self) -> bool {
        !self.questions.is_empty() || self.sleeps_until().next().is_some()
    }

    /// Returns `true` if the task has failed for good. An open interrupt is newer than a failure.
    pub(crate) fn has_failed(&self) -> bool {
        let is_final = |failure: &StoredFailure| failure.is_final() && !failure.waits_again;
        self.failure.as_ref().is_some_and(is_final) && self.questions.is_empty()
    }
}

/// Tasks by the names of their nodes, with their stored progress.
pub(crate) type NamedTasks = Vec<(Arc<str>, TaskProgress)>;
