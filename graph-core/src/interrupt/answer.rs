use std::ops::Deref;

use serde_json::Value;

use crate::error::ErrorKind;
use crate::payload::to_payload;

use super::{CheckpointValue as _, InterruptMismatch, OpenInterrupt, Question};

/// An answer to one question, which it names by id. It never applies to another question.
#[derive(Clone, Debug, PartialEq)]
#[must_use = "an answer does nothing until a run is resumed with it"]
pub struct Answer {
    id: String,
    /// The answer as JSON, or the reason why it cannot be stored.
    json: Result<Value, String>,
    /// The question that was answered, if it is known.
    question: Option<Value>,
    /// The version in which its type was written; `None` for JSON, which is checked against the schema of the open question.
    version: Option<u32>,
}

impl Answer {
    /// Creates an answer from JSON.
    pub(super) fn untyped(id: String, json: Value, question: Option<Value>) -> Self {
        Self { id, json: storable(json), question, version: None }
    }

    /// Creates an answer from a question's id and JSON, as a client sends them. The JSON is checked against the
    /// [`answer_schema`](OpenInterrupt::answer_schema) of the open question.
    ///
    /// An open question keeps its id even if its content changes, which happens if its node runs again on another state. An
    /// answer made with this function is then applied to the changed question.
    ///
    /// To have such an answer refused, create it from the question itself: with [`TypedInterrupt::answer`], or with
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
        self.json.as_ref().ok()
    }

    /// Returns `true` if the given question is the one that was answered, or if that is not known.
    pub(crate) fn is_to(&self, question: &Value) -> bool {
        // JSON values are compared, so the order of a map's keys does not matter.
        self.question.as_ref().is_none_or(|shown| shown == question)
    }

    /// Returns the answer as JSON with its version, or an error if it cannot be an answer to `open`.
    pub(crate) fn checked(self, open: &OpenInterrupt) -> Result<(Value, u32), ErrorKind> {
        let refuse = |reason| ErrorKind::InvalidAnswer { id: self.id.clone(), reason };
        let json = self.json.clone().map_err(refuse)?;
        if self.version.is_none()
            && let Err(InterruptMismatch::WrongAnswer { name, reason, .. }) = open.check_answer(&json)
        {
            return Err(refuse(format!(
                "it does not fit the answer type of `{name}`: at {reason}; nothing was stored: send an answer that fits \
                 the question's `answer_schema`, or have it asked again with `resume(())` if its type has changed since"
            )));
        }
        Ok((json, self.version.unwrap_or(open.version)))
    }
}

/// Checks that a store can give an answer back.
fn storable(answer: Value) -> Result<Value, String> {
    match to_payload(&answer) {
        Ok(_) => Ok(answer),
        Err(reason) => Err(format!("it {reason}")),
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

/// An open interrupt whose question was read as its own type. Dereferences to the question.
#[derive(Clone, Debug)]
pub struct TypedInterrupt<Q> {
    id: String,
    question: Q,
    /// The question as JSON.
    shown: Value,
}

impl<Q: Question> TypedInterrupt<Q> {
    pub(super) fn new(id: String, question: Q, shown: Value) -> Self {
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
        Answer { id: self.id.clone(), json, question: Some(self.shown.clone()), version: Some(Q::VERSION) }
    }
}

impl<Q> Deref for TypedInterrupt<Q> {
    type Target = Q;

    fn deref(&self) -> &Q {
        &self.question
    }
}
