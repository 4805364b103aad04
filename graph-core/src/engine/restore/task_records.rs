use std::sync::Arc;

use crate::checkpoint::{Checkpoint, RecordKey, RecordKind, TaskRecord};
use crate::engine::stored::{StoredFailure, StoredQuestion, corrupt, place, reason};
use crate::error::ErrorKind;
use crate::interrupt::OpenInterrupt;

/// The records of a checkpoint's tasks, as far as they can be read without the graph.
pub(crate) struct TaskRecords<'r> {
    pub(crate) thread: &'r Arc<str>,
    pub(crate) checkpoint: &'r Checkpoint,
    /// The records in the order in which a store returns them: by task, kind and key.
    pub(crate) records: &'r [TaskRecord],
}

/// The interrupts of a task.
pub(crate) struct Interrupts<'r> {
    /// The open ones with their ids, in the order in which the task has asked.
    open: Vec<(String, StoredQuestion)>,
    /// The records of the others and of their answers.
    pub(crate) answered: Vec<(&'r TaskRecord, &'r TaskRecord)>,
}

impl<'r> TaskRecords<'r> {
    /// Returns the records of this kind of a task. A plan may have many tasks, so this does not scan the records.
    pub(crate) fn of(&self, task: u32, kind: RecordKind) -> impl Iterator<Item = &'r TaskRecord> + use<'r> {
        let place = |record: &TaskRecord| (record.key.task, record.key.kind);
        let first = self.records.partition_point(|record| place(record) < (task, kind));
        let records = self.records.get(first..).unwrap_or_default();
        records.iter().take_while(move |record| place(record) == (task, kind))
    }

    /// Returns `true` if the task with this index has stored its result.
    pub(crate) fn is_finished(&self, index: usize) -> bool {
        self.of(place(index), RecordKind::Finished).next().is_some()
    }

    /// Reads the last failure of the task with this index.
    pub(crate) fn failure(&self, index: usize) -> Result<Option<StoredFailure>, ErrorKind> {
        let failed = self.of(place(index), RecordKind::Failed).next();
        failed.map(|record| self.json(record)).transpose()
    }

    /// Reads the interrupts of the task with this index.
    pub(crate) fn interrupts(&self, index: usize) -> Result<Interrupts<'r>, ErrorKind> {
        let (mut open, mut answered) = (Vec::new(), Vec::new());
        for record in self.of(place(index), RecordKind::Interrupt) {
            match self.answer_to(&record.key) {
                None => open.push((record.key.key.to_string(), self.json::<StoredQuestion>(record)?)),
                Some(answer) => answered.push((record, answer)),
            }
        }
        open.sort_by_key(|(_, question)| question.nth);
        Ok(Interrupts { open, answered })
    }

    /// Returns the answer to the interrupt with this key.
    fn answer_to(&self, interrupt: &RecordKey) -> Option<&'r TaskRecord> {
        let answer = RecordKey::new(interrupt.task, RecordKind::Answer, Arc::clone(&interrupt.key));
        let found = self.records.binary_search_by(|record| record.key.cmp(&answer)).ok()?;
        self.records.get(found)
    }

    pub(crate) fn json<T: serde::de::DeserializeOwned>(&self, record: &TaskRecord) -> Result<T, ErrorKind> {
        serde_json::from_slice(record.payload.bytes()).map_err(|error| self.corrupt(record, reason(&error)))
    }

    pub(crate) fn corrupt(&self, record: &TaskRecord, reason: String) -> ErrorKind {
        let RecordKey { task, kind, .. } = &record.key;
        corrupt(self.thread, self.checkpoint, format!("the {kind:?} record of task {task}"), reason)
    }
}

impl Interrupts<'_> {
    /// Returns the open interrupts of the task with this node and index.
    pub(crate) fn open(self, node: &str, index: usize) -> Vec<OpenInterrupt> {
        self.open.into_iter().map(|(id, question)| question.open(id, node, index)).collect()
    }
}
