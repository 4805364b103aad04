use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use crate::checkpoint::{
    BatchWrite, Checkpoint, CheckpointError, CheckpointId, CheckpointSource, FieldChange, NewCheckpoint,
    RecordKey, RecordKind, RunRecord, TaskRecord,
};
use crate::engine::desk::StepLog;
use crate::engine::encoded::Encoded;
use crate::engine::execute::Suspended;
use crate::engine::task::Finished;
use crate::graph::Compiled;
use crate::payload::Payload;
use crate::plan::Task;
use crate::state::{EncodeError, GraphState};

use super::host::{Host, Under};
use super::journal::{Journal, Shared};
use super::orphans::Watch;
use super::pieces::{NotStored, Pieces};
use super::question::StoredQuestion;
use super::recorder::Recorder;
use super::records::{finished_records, json_record, key, place};

/// A run's side of its thread: what it has stored, and what it stores next.
pub(crate) struct Persist {
    pub(crate) journal: Arc<Mutex<Journal>>,
    pub(crate) shared: Arc<Shared>,
    pub(super) run: Arc<RunRecord>,
    /// The checkpoint that has planned the tasks which are running.
    pub(super) at: Option<CheckpointId>,
    /// The greatest id of the namespace.
    pub(super) greatest: Option<CheckpointId>,
    pub(super) pieces: Pieces,
    /// By task, the records of its result that are stored.
    pub(super) recorded: Vec<Vec<RecordKey>>,
    /// The records of open questions.
    pub(super) asked: Vec<RecordKey>,
    /// What the next checkpoint is of.
    pub(super) persisting: Persisting,
    /// Checkpoints that the listeners have not been told of.
    pub(super) unannounced: Vec<(CheckpointId, i64)>,
    /// Whether there are any.
    pub(super) observed: bool,
    /// Takes note of it if the run is dropped on the way.
    pub(super) watch: Option<Watch>,
    /// The task that the run is within.
    pub(super) under: Option<Under>,
    /// What its checkpoints are of no use without.
    pub(super) needs: Needs,
    /// Why the run has stopped is stored where it stands.
    pub(super) has_stopped: bool,
}

/// What the checkpoints of a run within a task are of no use without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    Nothing,
    /// The checkpoint that has planned the task: the run goes on with its state.
    Around,
    /// The one that it began with, its input applied: nobody else knows what earlier runs had left.
    Beginning,
}

/// What a checkpoint is of.
#[derive(Debug, Default)]
pub(super) enum Persisting {
    /// A superstep of tasks.
    #[default]
    Superstep,
    /// Updates from outside: in whose place, and whether the thread ends with them.
    Update { names: Vec<String>, ends: bool },
}

/// What is planned at a checkpoint.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) next: Vec<Arc<str>>,
    pub(crate) progress: Option<Payload>,
}

impl Persist {
    /// For a run of a thread whose newest checkpoint is `greatest`.
    pub(crate) fn new(journal: Journal, run: Arc<RunRecord>, greatest: Option<CheckpointId>) -> Self {
        Self {
            shared: Arc::clone(&journal.shared),
            journal: Arc::new(Mutex::new(journal)),
            run,
            at: greatest,
            greatest,
            pieces: Pieces::default(),
            recorded: Vec::new(),
            asked: Vec::new(),
            persisting: Persisting::Superstep,
            unannounced: Vec::new(),
            observed: false,
            watch: None,
            under: None,
            needs: Needs::Nothing,
            has_stopped: false,
        }
    }

    /// The same within a task.
    pub(crate) fn within(self, under: Under, needs: Needs) -> Self {
        Self { under: Some(under), needs, ..self }
    }

    /// The record of what a checkpoint is of no use without.
    fn needed(&self) -> Option<TaskRecord> {
        let under = self.under.as_ref().filter(|under| !under.between)?;
        let key = match self.needs {
            Needs::Nothing => return None,
            Needs::Around => RecordKey::retaining(under.checkpoint, self.shared.around()?),
            Needs::Beginning => RecordKey::retaining(under.begun?, self.shared.namespace()),
        };
        Some(TaskRecord { key, payload: Payload::json("null") })
    }

    /// The run has come to its end.
    pub(in crate::engine) fn ends_here(&mut self) {
        if let Some(watch) = &mut self.watch {
            watch.ended = true;
        }
    }

    /// What runs within its tasks need of it.
    pub(crate) fn host(&self) -> Arc<Host> {
        Arc::new(Host { shared: Arc::clone(&self.shared), run: Arc::clone(&self.run), busy: Arc::default() })
    }

    /// Where durable steps are written.
    pub(crate) fn steps(&self) -> Arc<dyn StepLog> {
        Arc::clone(&self.shared) as Arc<dyn StepLog>
    }

    /// Answers were given to questions that were open, perhaps with other records. The questions stay beside them: an answer
    /// is one only to the question as it was asked.
    pub(crate) fn answered(&mut self, records: Vec<TaskRecord>) {
        let same = |asked: &RecordKey, key: &RecordKey| (asked.task, &asked.key) == (key.task, &key.key);
        self.asked.retain(|asked| !records.iter().any(|record| same(asked, &record.key)));
        self.records(records, Vec::new());
    }

    /// Whether the superstep that is being applied is the thread's last, whatever it plans.
    pub(crate) fn ends(&self) -> bool {
        matches!(self.persisting, Persisting::Update { ends: true, .. })
    }

    /// The checkpoint that was added last, or that the run stands at.
    pub(super) fn last(&self) -> Option<CheckpointId> {
        self.at
    }

    /// Adds a checkpoint to the journal; what runs next has been planned by it.
    pub(crate) fn checkpoint(
        &mut self,
        source: CheckpointSource,
        step: i64,
        parent: Option<CheckpointId>,
        plan: Plan,
        pieces: Vec<FieldChange>,
        mut records: Vec<TaskRecord>,
    ) -> CheckpointId {
        records.extend(self.needed());
        let id = CheckpointId::after(self.greatest);
        self.greatest = Some(id);
        self.at = Some(id);
        self.recorded.clear();
        self.asked.clear();
        self.has_stopped = false;
        self.shared.stands_at(id);
        let checkpoint = Checkpoint {
            id,
            parent,
            step,
            source,
            run: Arc::clone(&self.run),
            created_at: SystemTime::now(),
            next: plan.next,
            progress: plan.progress,
        };
        if self.observed {
            self.unannounced.push((id, step));
        }
        self.shared.push(BatchWrite::Checkpoint(Box::new(NewCheckpoint {
            checkpoint,
            changes: pieces,
            records,
        })));
        id
    }

    /// Changes what is known of the tasks that are running.
    pub(crate) fn records(&self, put: Vec<TaskRecord>, remove: Vec<RecordKey>) {
        if let Some(checkpoint) = self.at
            && (!put.is_empty() || !remove.is_empty())
        {
            self.shared.push(BatchWrite::Records { checkpoint, remove, put });
        }
    }

    /// The pieces of a superstep that has been folded into `state`.
    pub(crate) fn pieces<S: GraphState>(
        &mut self,
        state: &S,
        results: &[Option<Finished<S>>],
        touched: &[usize],
        cleared: &[usize],
    ) -> Result<Vec<FieldChange>, NotStored> {
        self.pieces.of_superstep(state, results, touched, cleared)
    }

    /// Keeps what was written before the superstep for the checkpoint that follows it.
    pub(super) fn carry<S: GraphState>(
        &mut self,
        state: &S,
        encoded: Option<&Encoded>,
        touched: &[usize],
    ) -> Result<(), NotStored> {
        self.pieces.carry(state, encoded, touched)
    }

    /// Stores the results that are there and not stored yet, and takes back those that are stored and not there any more.
    pub(crate) fn settle<S: GraphState, D>(
        &mut self,
        graph: &Compiled<S, D>,
        tasks: &[Task],
        results: &[Option<Finished<S>>],
    ) -> Result<(), EncodeError> {
        let (mut put, mut remove) = (Vec::new(), Vec::new());
        self.recorded.resize(tasks.len(), Vec::new());
        let all = tasks.iter().zip(results).zip(self.recorded.iter_mut()).enumerate();
        for (index, ((task, result), recorded)) in all {
            match result {
                Some(finished) if recorded.is_empty() => {
                    let records = finished_records(graph, index, task, finished)?;
                    *recorded = records.iter().map(|record| record.key.clone()).collect();
                    put.extend(records);
                }
                None => remove.append(recorded),
                Some(_) => {}
            }
        }
        self.records(put, remove);
        Ok(())
    }

    /// Stores the questions that tasks wait for now, in the place of those that they waited for before.
    pub(super) fn ask(&mut self, suspended: &Suspended) {
        let (mut put, mut remove) = (Vec::new(), Vec::new());
        let open = |key: &RecordKey| {
            let task = usize::try_from(key.task).unwrap_or(usize::MAX);
            suspended.get(&task).is_some_and(|open| open.iter().any(|open| *open.id == *key.key))
        };
        remove.extend(self.asked.extract_if(.., |asked| !open(asked)));
        for (&task, questions) in suspended {
            for question in questions {
                let stored = StoredQuestion::of(question);
                let at = key(place(task), RecordKind::Interrupt, &question.id);
                // An answer that is there is none to the question as it is asked now.
                remove.push(key(place(task), RecordKind::Answer, &question.id));
                if !self.asked.contains(&at) {
                    self.asked.push(at.clone());
                }
                put.extend(json_record(at, &stored));
            }
        }
        self.records(put, remove);
    }

    /// Takes note of which results are stored already.
    pub(super) fn remember<S: GraphState>(
        &mut self,
        results: &[Option<Finished<S>>],
        records: &[TaskRecord],
    ) {
        let of_task = |index: usize| {
            let of_result = move |record: &&TaskRecord| {
                record.key.task == place(index)
                    && matches!(record.key.kind, RecordKind::Write | RecordKind::Finished)
            };
            records.iter().filter(of_result).map(|record| record.key.clone()).collect()
        };
        let answered = |asked: &RecordKey| {
            let of_question = |record: &TaskRecord| {
                record.key.kind == RecordKind::Answer
                    && (record.key.task, &record.key.key) == (asked.task, &asked.key)
            };
            records.iter().any(of_question)
        };
        let asked = records.iter().filter(|record| record.key.kind == RecordKind::Interrupt);
        self.asked = asked.map(|record| record.key.clone()).filter(|asked| !answered(asked)).collect();
        let known = results.iter().enumerate();
        self.recorded =
            known.map(|(index, result)| if result.is_some() { of_task(index) } else { Vec::new() }).collect();
    }

    /// Stores results of the tasks that are running as they finish.
    pub(crate) fn recorder(&mut self, tasks: usize) -> Recorder<'_> {
        self.recorded.resize(tasks, Vec::new());
        Recorder { shared: Arc::clone(&self.shared), at: self.at, recorded: &mut self.recorded }
    }

    /// Waits until everything is durable.
    pub(crate) async fn flush(&self) -> Result<(), Arc<CheckpointError>> {
        Journal::flush(&self.journal).await
    }

    /// The checkpoints that have become durable since this was asked last.
    pub(crate) fn announce(&mut self) -> Vec<(CheckpointId, i64)> {
        let durable = self.shared.durable_head();
        let count = self.unannounced.iter().take_while(|(id, _)| Some(*id) <= durable).count();
        self.unannounced.drain(..count).collect()
    }
}

/// Locks a journal; one whose owner panicked is as good as before.
pub(super) fn lock(journal: &Mutex<Journal>) -> std::sync::MutexGuard<'_, Journal> {
    journal.lock().unwrap_or_else(PoisonError::into_inner)
}
