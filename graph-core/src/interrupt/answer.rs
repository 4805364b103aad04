use std::borrow::Cow;

use serde_json::Value;

use crate::error::ErrorKind;

use super::{AnswerJson, EarlierForm, InterruptMismatch, OpenInterrupt};

/// An answer to one question, which it names by id. It never applies to another question.
#[derive(Clone, Debug, PartialEq)]
#[must_use = "an answer does nothing until a run is resumed with it"]
pub struct Answer {
    id: String,
    /// The answer as JSON, or the reason why it cannot be stored.
    json: Result<AnswerJson, String>,
    /// The question that was answered, if it is known.
    question: Option<Value>,
    /// The version in which its type was written; `None` for JSON, which is checked against the schema of the open question.
    version: Option<u32>,
}

impl Answer {
    /// Creates an answer from JSON.
    pub(super) fn untyped(id: String, json: Value, question: Option<Value>) -> Self {
        Self { id, json: AnswerJson::checked(json), question, version: None }
    }

    /// Creates an answer whose type was written in this version, from its JSON or the reason why it cannot be stored.
    pub(super) fn typed(id: String, json: Result<Value, String>, question: Value, version: u32) -> Self {
        Self { id, json: json.map(AnswerJson::of), question: Some(question), version: Some(version) }
    }

    /// Creates an answer from a question's id and JSON, as a client sends them. The JSON is checked against the
    /// [`answer_schema`](OpenInterrupt::answer_schema) of the open question.
    ///
    /// An open question keeps its id even if its content changes, which happens if its node runs again on another state. An
    /// answer made with this function is then applied to the changed question.
    ///
    /// To have such an answer refused, create it from the question itself: with
    /// [`TypedInterrupt::answer`](super::TypedInterrupt::answer), or with
    /// [`OpenInterrupt::answer_json`](super::OpenInterrupt::answer_json) on the
    /// [`OpenInterrupt`](super::OpenInterrupt) that the client was shown and sends back.
    pub fn json(id: impl Into<String>, answer: Value) -> Self {
        Self::untyped(id.into(), answer, None)
    }

    /// Returns the id of the question that it answers.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the answer as JSON; `None` if it cannot be stored.
    pub(crate) fn value(&self) -> Option<&Value> {
        self.json.as_ref().ok().map(AnswerJson::value)
    }

    /// Returns `true` if the given question is the one that was answered, or if that is not known.
    pub(crate) fn is_to(&self, question: &Value) -> bool {
        // JSON values are compared, so the order of a map's keys does not matter.
        self.question.as_ref().is_none_or(|shown| shown == question)
    }

    /// Returns the answer as JSON with its version, or an error if it cannot be an answer to `open`.
    pub(crate) fn checked(self, open: &OpenInterrupt) -> Result<(AnswerJson, u32), ErrorKind> {
        let Self { id, json, version, .. } = self;
        let refuse = |reason| ErrorKind::InvalidAnswer { id: id.clone(), reason };
        let json = json.map_err(refuse)?;
        if version.is_none()
            && let Err(InterruptMismatch::WrongAnswer { name, reason, .. }) = open.check_answer(json.value())
        {
            return Err(refuse(format!(
                "it does not fit the answer type of `{name}`: at {reason}; nothing was stored: send an answer that fits \
                 the question's `answer_schema`, or have it asked again with `resume(())` if its type has changed since"
            )));
        }
        Ok((json, version.unwrap_or(open.version)))
    }
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

    /// Returns the question in the form that was answered; `None` if the answer is to a question that differs.
    pub(crate) fn as_answered(&self, answer: &Answer) -> Option<Cow<'_, Self>> {
        if answer.is_to(&self.question) {
            return Some(Cow::Borrowed(self));
        }
        let form = self.earlier.0.iter().find(|form| answer.is_to(&form.question))?.clone();
        let EarlierForm { question, version, answer_schema } = form;
        Some(Cow::Owned(Self { question, version, answer_schema, ..self.clone() }))
    }
}

/// Lets a single answer be passed where a list is expected.
impl IntoIterator for Answer {
    type Item = Self;
    type IntoIter = std::iter::Once<Self>;

    fn into_iter(self) -> Self::IntoIter {
        std::iter::once(self)
    }
}
