use std::borrow::Cow;
use std::collections::HashMap;

use crate::checkpoint::{RecordKey, RecordKind, TaskRecord};
use crate::engine::context::Answered;
use crate::error::ErrorKind;
use crate::interrupt::{Answer, AnswerJson, OpenInterrupt};

use super::json::json_record;
use super::keys::{key, place};
use super::question::{QuestionPlace, StoredQuestion};

/// An answer that was checked and not delivered yet, with the open interrupt that it answers.
pub(crate) struct GivenAnswer {
    /// The index of the task that asked.
    pub(crate) task: usize,
    pub(crate) open: OpenInterrupt,
    pub(crate) answer: AnswerJson,
    /// The version of the answer.
    pub(crate) version: u32,
}

/// The reason why an answer is refused.
pub(crate) enum RefusedAnswer {
    /// No open interrupt has the id.
    NotOpen { id: String },
    /// The question with the id is not the one that was answered.
    Changed { id: String },
    /// Another answer in the same list has the id.
    Repeated { id: String },
    /// The value cannot be an answer to the question.
    Invalid(ErrorKind),
}

/// Checks answers. Each has to answer a different one of the open interrupts, which come with the indices of their tasks.
pub(crate) fn check_answers<'o>(
    open: impl Iterator<Item = (usize, &'o OpenInterrupt)>,
    answers: Vec<Answer>,
) -> Result<Vec<GivenAnswer>, RefusedAnswer> {
    if answers.is_empty() {
        return Ok(Vec::new());
    }
    // An answered interrupt is taken out.
    let mut asked: HashMap<&str, Option<_>> =
        open.map(|(task, open)| (open.id.as_str(), Some((task, open)))).collect();
    let mut check = |answer: Answer| {
        let id = || answer.id().to_owned();
        let found = asked.get_mut(answer.id()).ok_or_else(|| RefusedAnswer::NotOpen { id: id() })?;
        let (task, open) = found.take().ok_or_else(|| RefusedAnswer::Repeated { id: id() })?;
        let form: Cow<'_, OpenInterrupt> =
            open.as_answered(&answer).ok_or_else(|| RefusedAnswer::Changed { id: id() })?;
        let (answer, version) = answer.checked(&form).map_err(RefusedAnswer::Invalid)?;
        Ok(GivenAnswer { task, open: open.clone(), answer, version })
    };
    answers.into_iter().map(&mut check).collect()
}

impl GivenAnswer {
    /// Returns the records that store it. If its version is not that of the question, they change the question's record
    /// too. `place_of` returns the place of the question with a key.
    pub(crate) fn records(&self, place_of: impl FnOnce(&RecordKey) -> QuestionPlace) -> Vec<TaskRecord> {
        let key = |kind| key(place(self.task), kind, &self.open.id);
        let mut records = vec![TaskRecord::new(key(RecordKind::Answer), self.answer.payload())];
        if self.version != self.open.version {
            let at = key(RecordKind::Interrupt);
            let question = StoredQuestion::of(&self.open).at(place_of(&at)).answered_in(self.version);
            records.extend(json_record(at, &question));
        }
        records
    }

    /// Returns the id of the interrupt, and the answer as its task takes it.
    pub(crate) fn into_answered(self) -> (String, Answered) {
        let Self { open, answer, version, .. } = self;
        let answer = answer.into_value();
        (open.id, Answered { question: open.question, answer, versions: (open.version, version) })
    }
}
