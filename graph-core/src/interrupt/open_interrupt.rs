use std::borrow::Cow;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::evolution::migrated_question;
use super::{Answer, InterruptMismatch, Question, QuestionType, QuestionTypeOf as _, TypedInterrupt, schema};

/// A question that waits for an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OpenInterrupt {
    /// The id of the question. It stays the same when the task runs again, and differs from the id of every other
    /// question of the thread, or of the run if there is no thread.
    pub id: String,
    /// The name of the node that asks.
    pub node: String,
    /// The index of the task in its superstep.
    pub task: usize,
    /// The name of the question's type; see [`Question::name`].
    pub name: String,
    /// The key that the node gave the question, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The question, as JSON.
    pub question: Value,
    /// The version of the question's JSON; see [`Question::VERSION`].
    #[serde(default, skip_serializing_if = "is_zero")]
    pub version: u32,
    /// The JSON Schema of the answer, or `None` if every value may fit; see [`Question::answer_schema`].
    ///
    /// Questions that were stored by earlier versions of this library have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_schema: Option<Value>,
    /// The path of subgraph nodes, outermost first; empty for a node of the run's own graph.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub namespace: Vec<String>,
    /// The time at which the question [expires](crate::interrupt::Interrupt::within), to the millisecond.
    ///
    /// In JSON it is `expires_at_ms`, in milliseconds since 1970. Questions that were stored by earlier versions of this
    /// library have none.
    #[serde(default, rename = "expires_at_ms", with = "expires_at", skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<SystemTime>,
    /// Other forms in which earlier versions of the program have asked the question.
    #[serde(skip)]
    pub(crate) earlier: EarlierForms,
}

/// The forms in which earlier versions of a program have asked a question that is equal after its migration.
///
/// A client does not send them back. They are therefore equal to all others.
#[derive(Clone, Debug, Default)]
pub(crate) struct EarlierForms(pub(crate) Vec<EarlierForm>);

impl PartialEq for EarlierForms {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// A question and the schema of its answer in the version that has asked it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct EarlierForm {
    pub(crate) question: Value,
    pub(crate) version: u32,
    pub(crate) answer_schema: Option<Value>,
}

impl OpenInterrupt {
    /// Creates an answer to this question from JSON that a client sends.
    ///
    /// The run that is resumed refuses the answer with [`ErrorKind::InvalidAnswer`](crate::ErrorKind::InvalidAnswer) if it
    /// does not fit [`answer_schema`](Self::answer_schema), and with another error if the question has changed. The schema
    /// cannot express every rule of a type. An answer that breaks such a rule fails the task, and the question is open
    /// again.
    pub fn answer_json(&self, answer: Value) -> Answer {
        Answer::untyped(self.id.clone(), answer, Some(self.question.clone()))
    }

    /// Checks JSON against the [`answer_schema`](Self::answer_schema).
    ///
    /// A resumption makes the same check. Use this method to refuse an answer before a run begins, in a web handler for
    /// example.
    ///
    /// # Errors
    /// [`InterruptMismatch::WrongAnswer`] if the answer does not fit. Its reason has the path, and quotes no value.
    pub fn check_answer(&self, answer: &Value) -> Result<(), InterruptMismatch> {
        let Some(schema) = &self.answer_schema else { return Ok(()) };
        schema::check(schema, answer).map_err(|reason| InterruptMismatch::WrongAnswer {
            id: self.id.clone(),
            name: self.name.clone(),
            reason,
        })
    }

    /// Returns the question in the form that was answered; `None` if the answer is to a question that differs.
    pub(crate) fn as_answered(&self, answer: &Answer) -> Option<Cow<'_, Self>> {
        if answer.is_to(&self.question) {
            return Some(Cow::Borrowed(self));
        }
        let form = self.earlier.0.iter().find(|form| answer.is_to(&form.question))?.clone();
        let EarlierForm { question, version, answer_schema } = form;
        Some(Cow::Owned(Self { question, version, answer_schema, ..self.clone() }))
    }

    /// Returns the forms of this question, the current one first.
    pub(crate) fn into_forms(self) -> impl Iterator<Item = EarlierForm> {
        let Self { question, version, answer_schema, earlier, .. } = self;
        std::iter::once(EarlierForm { question, version, answer_schema }).chain(earlier.0)
    }

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

fn is_zero(version: &u32) -> bool {
    *version == 0
}

/// The stored form of a time.
mod expires_at {
    use std::time::SystemTime;

    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    use crate::options::clock::{from_millis, to_millis};

    pub(super) fn serialize<S: Serializer>(
        time: &Option<SystemTime>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        time.map(to_millis).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<SystemTime>, D::Error> {
        Ok(Option::deserialize(deserializer)?.and_then(from_millis))
    }
}
