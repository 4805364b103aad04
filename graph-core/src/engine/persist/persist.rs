use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use crate::checkpoint::{
    BatchWrite, Checkpoint, CheckpointError, CheckpointId, CheckpointSource, FieldChange, NewCheckpoint,
    RecordKey, RecordKind, RunRecord, StatusKind, StoredStatus, TaskRecord,
};
use crate::engine::context::StepLog;
use crate::engine::graph::Compiled;
use crate::engine::journal::{Journal, JournalHandle, ParentPersistence, ParentTask, Watch};
use crate::engine::stored::{
    FieldChanges, GivenAnswer, NotStored, QuestionPlace, StoredQuestion, TaskChanges, finished_records,
    json_record, key, place, without_authors,
};
use crate::engine::task::{Encoded, Finished, Keep, Suspended};
use crate::erased::ErasedState;
use crate::payload::Payload;
use crate::plan::Task;
use crate::state::EncodeError;
use crate::stream::AnnouncedCheckpoint;

use super::recorder::Recorder;

/// The connection of a run to its thread: its journal, its position, and the contents of the next checkpoint.
pub(crate) struct Persist {
    pub(crate) journal: Arc<Mutex<Journal>>,
    pub(crate) shared: Arc<JournalHandle>,
    pub(crate) run: Arc<RunRecord>,
    /// The checkpoint that planned the running tasks.
    pub(crate) at: Option<CheckpointId>,
    /// The greatest checkpoint id of the namespace.
    pub(crate) greatest: Option<CheckpointId>,
    pub(crate) changes: FieldChanges,
    /// The field changes of the next checkpoint by task, as far as they have to be stored.
    pub(crate) wrote: Option<TaskChanges>,
    /// By task, the keys of the stored records of its result.
    pub(crate) recorded: Vec<Vec<RecordKey>>,
    /// The keys of the records of open interrupts.
    pub(crate) asked: BTreeMap<RecordKey, QuestionPlace>,
    /// The keys of the records of answered interrupts.
    pub(crate) given: BTreeMap<RecordKey, QuestionPlace>,
    /// The kind of the next checkpoint.
    pub(crate) next_kind: CheckpointKind,
    /// Checkpoints that were not announced to the listeners.
    pub(crate) unannounced: Vec<AnnouncedCheckpoint>,
    /// `true` if the run has listeners.
    pub(crate) observed: bool,
    /// Registers the run as abandoned if it is dropped before its end.
    pub(crate) watch: Option<Watch>,
    /// The parent task.
    pub(crate) parent_task: Option<ParentTask>,
    /// The earlier checkpoint that this run's checkpoints depend on.
    pub(crate) retained: RetainedCheckpoint,
    /// `true` if the reason for the run's stop is stored at the current checkpoint.
    pub(crate) has_stopped: bool,
    /// The status of the thread after all writes so far; `None` for a run that does not change it.
    pub(crate) status: Option<StoredStatus>,
}

/// The retained checkpoint: an earlier one that the checkpoints of a subgraph run depend on, so that pruning has to
/// keep it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RetainedCheckpoint {
    Nothing,
    /// The parent checkpoint that planned the task, because the run works on its state.
    Parent,
    /// The checkpoint at which the run's input was applied, because only that one has the state left by earlier
    /// calls.
    Input,
}

/// The kind of a checkpoint.
#[derive(Debug, Default)]
pub(crate) enum CheckpointKind {
    /// A superstep of tasks.
    #[default]
    Superstep,
    /// Updates from outside, with the nodes on whose behalf they were made. `ends` is `true` if they finish the
    /// thread.
    Update { names: Vec<String>, ends: bool },
}

/// The plan that a checkpoint stores.
#[derive(Debug)]
pub(crate) struct StoredPlan {
    pub(crate) next: Vec<Arc<str>>,
    pub(crate) progress: Option<Payload>,
    /// The status of the thread: running, or the way in which it has ended.
    pub(crate) status: StatusKind,
}

impl Persist {
    /// Creates the connection for a run in a namespace whose newest checkpoint is `greatest`.
    pub(crate) fn new(journal: Journal, run: Arc<RunRecord>, greatest: Option<CheckpointId>) -> Self {
        Self {
            shared: Arc::clone(&journal.shared),
            journal: Arc::new(Mutex::new(journal)),
            run,
            at: greatest,
            greatest,
            changes: FieldChanges::default(),
            wrote: None,
            recorded: Vec::new(),
            asked: BTreeMap::new(),
            given: BTreeMap::new(),
            next_kind: CheckpointKind::Superstep,
            unannounced: Vec::new(),
            observed: false,
            watch: None,
            parent_task: None,
            retained: RetainedCheckpoint::Nothing,
            has_stopped: false,
            status: None,
        }
    }

    /// Attaches the run to its parent task.
    pub(crate) fn with_parent_task(self, parent_task: ParentTask, retained: RetainedCheckpoint) -> Self {
        Self { parent_task: Some(parent_task), retained, ..self }
    }

    /// Returns the record that protects the retained checkpoint from pruning.
    fn retaining_record(&self) -> Option<TaskRecord> {
        let parent_task = self.parent_task.as_ref().filter(|parent_task| !parent_task.between_calls)?;
        let key = match self.retained {
            RetainedCheckpoint::Nothing => return None,
            RetainedCheckpoint::Parent => {
                RecordKey::retaining(parent_task.state_at(), self.shared.parent_namespace()?)
            }
            RetainedCheckpoint::Input => RecordKey::retaining(parent_task.begun?, self.shared.namespace()),
        };
        Some(TaskRecord::new(key, Payload::json("null")))
    }

    /// Marks the run as ended.
    pub(crate) fn ends_here(&mut self) {
        if let Some(watch) = &mut self.watch {
            watch.ended = true;
        }
    }

    /// Returns the parts that the subgraph runs of its tasks need.
    pub(crate) fn parent_persistence(&self) -> Arc<ParentPersistence> {
        Arc::new(ParentPersistence {
            shared: Arc::clone(&self.shared),
            run: Arc::clone(&self.run),
            busy: Arc::default(),
        })
    }

    /// Returns the log of durable steps.
    pub(crate) fn steps(&self) -> Arc<dyn StepLog> {
        Arc::clone(&self.shared) as Arc<dyn StepLog>
    }

    /// Stores answers to open interrupts, possibly with other records.
    ///
    /// The questions stay stored next to the answers, because an answer is valid only for the question as it was
    /// asked.
    pub(crate) fn answered(&mut self, records: Vec<TaskRecord>) {
        for record in &records {
            self.mark_answered(interrupt_of(&record.key));
        }
        self.records(records, Vec::new());
    }

    /// Returns `true` if the superstep being applied is the thread's last, whatever it plans.
    pub(crate) fn ends(&self) -> bool {
        matches!(self.next_kind, CheckpointKind::Update { ends: true, .. })
    }

    /// Marks the planned tasks as those that this checkpoint has planned first.
    pub(crate) fn keeps_tasks_of(&mut self, planned_at: CheckpointId) {
        self.shared.keeps_tasks_of(planned_at);
    }

    /// Returns the checkpoint that was added last, or at which the run began.
    pub(crate) fn last(&self) -> Option<CheckpointId> {
        self.at
    }

    /// Adds a checkpoint to the journal. It plans the tasks that run next.
    pub(crate) fn checkpoint(
        &mut self,
        source: CheckpointSource,
        step: i64,
        parent: Option<CheckpointId>,
        plan: StoredPlan,
        changes: Vec<FieldChange>,
        mut records: Vec<TaskRecord>,
    ) -> CheckpointId {
        records.extend(self.retaining_record());
        let id = CheckpointId::after(self.greatest);
        self.greatest = Some(id);
        self.at = Some(id);
        self.recorded.clear();
        self.wrote = None;
        self.asked.clear();
        self.given.clear();
        self.has_stopped = false;
        self.shared.reaches(id);
        let checkpoint = Checkpoint::new(id, step, source, Arc::clone(&self.run), SystemTime::now())
            .parent(parent)
            .next(plan.next)
            .progress(plan.progress);
        if self.observed {
            let next = checkpoint.next.clone();
            let mut announced = AnnouncedCheckpoint { id, parent, source, step, next };
            if let Some((merged, before)) = self.shared.merged_with_next() {
                // That one is never stored.
                self.unannounced.retain(|other| other.id != merged);
                announced.parent = before;
            }
            self.unannounced.push(announced);
        }
        let new = NewCheckpoint::new(checkpoint).changes(changes).records(records);
        self.shared.push(BatchWrite::checkpoint(new));
        self.set_status(StoredStatus::new(plan.status));
        id
    }

    /// Changes the records of the running tasks.
    pub(crate) fn records(&self, put: Vec<TaskRecord>, remove: Vec<RecordKey>) {
        if let Some(checkpoint) = self.at
            && (!put.is_empty() || !remove.is_empty())
        {
            self.shared.push(BatchWrite::records(checkpoint, remove, put));
        }
    }

    /// Returns the field changes of a superstep that was folded into `state`.
    pub(crate) fn changes(
        &mut self,
        state: &dyn ErasedState,
        results: &[Option<Finished>],
        touched: &[usize],
        cleared: &[usize],
    ) -> Result<Vec<FieldChange>, NotStored> {
        let changes = self.changes.of_superstep(state, results, touched, cleared)?;
        self.wrote = match self.next_kind {
            CheckpointKind::Superstep => {
                TaskChanges::of(state.state_type(), &changes, results, &self.recorded)
            }
            CheckpointKind::Update { .. } => None,
        };
        Ok(without_authors(changes))
    }

    /// Keeps an update that was applied before the superstep, for the checkpoint after it.
    pub(crate) fn carry(
        &mut self,
        state: &dyn ErasedState,
        encoded: Option<&Encoded>,
        touched: &[usize],
    ) -> Result<(), NotStored> {
        self.changes.carry(state, encoded, touched)
    }

    /// Stores the results that are not stored yet, and removes stored results that were revoked.
    pub(crate) fn store_results(
        &mut self,
        graph: &Compiled,
        tasks: &[Task],
        results: &[Option<Finished>],
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

    /// Stores the interrupts that are open now, in place of those that were open before.
    pub(crate) fn ask(&mut self, suspended: &Suspended) {
        let (mut put, mut remove) = (Vec::new(), Vec::new());
        let mut before = std::mem::take(&mut self.asked);
        let mut answers: BTreeMap<u32, usize> = BTreeMap::new();
        for interrupt in self.given.keys() {
            *answers.entry(interrupt.task).or_default() += 1;
        }
        for (&task, questions) in suspended {
            for (nth, question) in questions.iter().enumerate() {
                let at = key(place(task), RecordKind::Interrupt, &question.id);
                let known = before.remove(&at).or_else(|| self.given.remove(&at));
                let answered = known.map(|known| known.answered);
                let answered = answered.unwrap_or_else(|| answers.get(&at.task).copied().unwrap_or_default());
                let asked_at = QuestionPlace { nth, answered };
                let stored = StoredQuestion::of(question).at(asked_at);
                // An earlier answer does not answer the question as it is asked now.
                remove.push(key(place(task), RecordKind::Answer, &question.id));
                self.asked.insert(at.clone(), asked_at);
                put.extend(json_record(at, &stored));
            }
        }
        remove.extend(before.into_keys());
        self.records(put, remove);
    }

    /// Returns the records that store answers to open interrupts.
    pub(crate) fn answer_records<'a>(
        &self,
        given: impl IntoIterator<Item = &'a GivenAnswer>,
    ) -> Vec<TaskRecord> {
        let place_of = |question: &RecordKey| self.asked.get(question).copied().unwrap_or_default();
        given.into_iter().flat_map(|answer| answer.records(place_of)).collect()
    }

    /// Records which results and open interrupts are stored already.
    pub(crate) fn remember(&mut self, results: &[Option<Finished>], records: &[TaskRecord]) {
        self.recorded = vec![Vec::new(); results.len()];
        self.asked.clear();
        self.given.clear();
        for TaskRecord { key, payload, .. } in records {
            let task = usize::try_from(key.task).unwrap_or(usize::MAX);
            match key.kind {
                RecordKind::Write | RecordKind::Finished
                    if results.get(task).is_some_and(Option::is_some) =>
                {
                    self.recorded.get_mut(task).into_iter().for_each(|recorded| recorded.push(key.clone()));
                }
                RecordKind::Interrupt => {
                    self.asked.insert(key.clone(), StoredQuestion::asked(payload));
                }
                _ => {}
            }
        }
        for TaskRecord { key, .. } in records.iter().filter(|record| record.key.kind == RecordKind::Answer) {
            self.mark_answered(interrupt_of(key));
        }
    }

    /// Marks an interrupt as answered.
    fn mark_answered(&mut self, interrupt: RecordKey) {
        if let Some(asked) = self.asked.remove(&interrupt) {
            self.given.insert(interrupt, asked);
        }
    }

    /// Returns a recorder, which stores the results of the running tasks as they finish.
    pub(crate) fn recorder(&mut self, tasks: usize) -> Recorder<'_> {
        self.recorded.resize(tasks, Vec::new());
        Recorder { shared: Arc::clone(&self.shared), at: self.at, recorded: &mut self.recorded }
    }

    /// Returns the parts of the result of a superstep's only task that have to be encoded.
    pub(crate) fn kept_of_lone_task(&self) -> Keep {
        if self.changes.keeps_writes() { Keep::All } else { Keep::FieldChanges }
    }

    /// Waits until everything is durable.
    pub(crate) async fn flush(&self) -> Result<(), Arc<CheckpointError>> {
        Journal::flush(&self.journal).await
    }

    /// Returns the checkpoints that have become durable since the last call.
    pub(crate) fn announce(&mut self) -> Vec<AnnouncedCheckpoint> {
        let durable = self.shared.durable_head();
        let count = self.unannounced.iter().take_while(|checkpoint| Some(checkpoint.id) <= durable).count();
        self.unannounced.drain(..count).collect()
    }
}

/// Returns the key of the interrupt to which the record with this key is the answer.
fn interrupt_of(answer: &RecordKey) -> RecordKey {
    RecordKey::new(answer.task, RecordKind::Interrupt, Arc::clone(&answer.key))
}
