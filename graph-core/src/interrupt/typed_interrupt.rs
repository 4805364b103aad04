use std::ops::Deref;

use serde_json::Value;

use super::evolution::migrated_question;
use super::{
    Answer, CheckpointValue as _, InterruptMismatch, OpenInterrupt, Question, QuestionType,
    QuestionTypeOf as _,
};

/// An open interrupt whose question was read as its own type. Dereferences to the question.
#[derive(Clone, Debug)]
pub struct TypedInterrupt<Q> {
    id: String,
    question: Q,
    /// The question as JSON.
    shown: Value,
}

impl<Q: Question> TypedInterrupt<Q> {
    fn new(id: String, question: Q, shown: Value) -> Self {
        Self { id, question, shown }
    }

    /// Returns the question's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Creates an answer to this question.
    ///
    /// If the question has changed when the run is resumed, the answer is refused. An answer that cannot be stored as JSON is
    /// refused at that time as well.
    pub fn answer(&self, answer: Q::Answer) -> Answer {
        let json = answer.__to_json().map_err(|reason| format!("it {reason}"));
        Answer::typed(self.id.clone(), json, self.shown.clone(), Q::VERSION)
    }
}

impl<Q> Deref for TypedInterrupt<Q> {
    type Target = Q;

    fn deref(&self) -> &Q {
        &self.question
    }
}

impl OpenInterrupt {
    /// Reads the question as a `Q`. A question of an older version is [migrated](Question::migrate).
    ///
    /// # Errors
    /// - [`InterruptMismatch::OtherType`] if the question has another name.
    /// - [`InterruptMismatch::Unreadable`] if its JSON does not fit `Q`, its migration fails, or its version is newer.
    pub fn read<Q: Question>(&self) -> Result<TypedInterrupt<Q>, InterruptMismatch> {
        let json = self.read_as(Q::TYPE)?;
        match Q::__from_json(json) {
            Ok(question) => Ok(TypedInterrupt::new(self.id.clone(), question, self.question.clone())),
            Err(error) => Err(self.unreadable(Q::TYPE, error.to_string())),
        }
    }

    /// Returns the question in this program's version of the type.
    fn read_as(&self, of: &QuestionType) -> Result<Value, InterruptMismatch> {
        if self.name != (of.name)() {
            let (id, name) = (self.id.clone(), self.name.clone());
            return Err(InterruptMismatch::OtherType { id, name, expected: (of.name)() });
        }
        if self.version == of.version {
            return Ok(self.question.clone());
        }
        migrated_question(of, self.version, &self.question)
            .map_err(|error| self.unreadable(of, error.to_string()))
    }

    fn unreadable(&self, of: &QuestionType, reason: String) -> InterruptMismatch {
        InterruptMismatch::Unreadable { id: self.id.clone(), name: (of.name)(), reason }
    }
}
