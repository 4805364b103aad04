use serde_json::Value;

use crate::checkpoint::TaskRecord;
use crate::engine::context::Answered;
use crate::interrupt::OpenInterrupt;

use super::question::{StoredQuestion, answer_records};

/// An answer that was checked and not delivered yet, with the open interrupt that it answers.
pub(crate) struct GivenAnswer {
    /// The index of the task that asked.
    pub(crate) task: usize,
    pub(crate) open: OpenInterrupt,
    pub(crate) answer: Value,
    /// The version of the answer.
    pub(crate) version: u32,
}

impl GivenAnswer {
    /// Returns the records that store it.
    pub(crate) fn records(&self) -> Vec<TaskRecord> {
        let question = StoredQuestion::of(&self.open);
        answer_records(self.task, &self.open.id, &question, (&self.answer, self.version))
    }

    /// Returns the id of the interrupt, and the answer as its task takes it.
    pub(crate) fn into_answered(self) -> (String, Answered) {
        let Self { open, answer, version, .. } = self;
        (open.id, Answered { question: open.question, answer, versions: (open.version, version) })
    }
}
