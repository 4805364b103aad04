use std::sync::Arc;

use crate::checkpoint::{Checkpoint, TaskRecord};
use crate::engine::ephemeral::Ephemerals;
use crate::engine::task::Finished;
use crate::graph::Compiled;
use crate::node::Outward;
use crate::payload::Payload;
use crate::plan::{Progress, Task};
use crate::state::GraphState;

use super::gate::Gate;
use super::pieces::Pieces;
use super::question::StoredQuestion;
use super::records::StoredFailure;

/// A checkpoint as this program understands it: everything that is needed to go on from it.
pub(crate) struct Opened<S: GraphState> {
    pub(crate) checkpoint: Checkpoint,
    /// The state at the checkpoint, with the updates that came with resumptions; where an input waits to be applied, the state
    /// that it is applied to.
    pub(crate) state: S,
    pub(super) pieces: Pieces,
    pub(crate) tasks: Vec<Task>,
    pub(crate) progress: Progress,
    pub(crate) ephemerals: Ephemerals,
    /// By task, what is known of it.
    pub(crate) known: Vec<Known<S>>,
    /// The input that waits to be applied.
    pub(crate) input: Option<Finished<S>>,
    /// The fields that a waiting input has given past their reducers.
    pub(crate) given: Vec<usize>,
    /// Whether nothing is stored of the state yet.
    pub(crate) fresh: bool,
    /// The breakpoints that the thread has stopped at here, or comes to.
    pub(crate) gate: Option<Gate>,
    /// What the run has said to the graph around it, which has ended it.
    pub(crate) said: Vec<Outward>,
    /// The records as they are stored.
    pub(crate) records: Vec<TaskRecord>,
}

impl<S: GraphState> Opened<S> {
    /// Whether nothing is left to run, and no join waits.
    pub(crate) fn is_at_rest<D>(&self, graph: &Compiled<S, D>) -> bool {
        let waits = self.progress.unfilled(&graph.topology).next().is_some();
        self.tasks.is_empty() && self.input.is_none() && !waits
    }

    /// The run that is not complete here, if there is one.
    pub(crate) fn run_id<D>(&self, graph: &Compiled<S, D>) -> Option<Arc<str>> {
        (!self.is_at_rest(graph)).then(|| Arc::clone(&self.checkpoint.run.id))
    }

    /// The superstep that it follows.
    pub(crate) fn step(&self) -> u64 {
        u64::try_from(self.checkpoint.step).unwrap_or_default()
    }
}

/// What is known of a planned task.
pub(crate) struct Known<S: GraphState> {
    pub(crate) result: Option<Finished<S>>,
    pub(crate) failure: Option<StoredFailure>,
    /// The questions that it waits for, by id.
    pub(crate) questions: Vec<(String, StoredQuestion)>,
    /// The questions that were answered, by id, with their answers.
    pub(crate) answers: Vec<(String, StoredQuestion, serde_json::Value)>,
    /// What its durable steps came to, by key.
    pub(crate) steps: Vec<(String, Payload)>,
    /// When its sleeps are over, by key, in milliseconds.
    pub(crate) sleeps: Vec<(String, u64)>,
}

impl<S: GraphState> Known<S> {
    /// Whether nothing has come of the task so far.
    pub(crate) fn is_nothing(&self) -> bool {
        let Self { result, failure, questions, answers, steps, sleeps } = self;
        let asked = questions.is_empty() && answers.is_empty() && steps.is_empty() && sleeps.is_empty();
        result.is_none() && failure.is_none() && asked
    }
}

/// Tasks by the names of their nodes, with what is known of them.
pub(crate) type NamedTasks<S> = Vec<(Arc<str>, Known<S>)>;

impl<S: GraphState> Default for Known<S> {
    fn default() -> Self {
        let (questions, answers, steps, sleeps) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { result: None, failure: None, questions, answers, steps, sleeps }
    }
}
