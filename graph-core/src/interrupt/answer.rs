use std::ops::Deref;

use serde_json::Value;

use crate::error::ErrorKind;
use crate::payload::{to_json, to_payload};

use super::Question;

/// An answer to one question, which it names by id. It never applies to another question.
#[derive(Clone, Debug, PartialEq)]
#[must_use = "an answer does nothing until a run is resumed with it"]
pub struct Answer {
    id: String,
    /// The answer as JSON, or the reason why it cannot be stored.
    json: Result<Value, String>,
    /// The question that was answered, if it is known.
    question: Option<Value>,
}

impl Answer {
    /// Creates an answer to a known question from JSON.
    pub(super) fn of_json(id: String, answer: Value, question: Value) -> Self {
        Self::new(id, storable(answer), question)
    }

    pub(super) fn new(id: String, json: Result<Value, String>, question: Value) -> Self {
        Self { id, json, question: Some(question) }
    }

    /// Creates an answer from a question's id and JSON, as a client sends them.
    ///
    /// An open question keeps its id even if its content changes, which happens if its node runs again on another state. An
    /// answer made with this function is then applied to the changed question.
    ///
    /// To have such an answer refused, create it from the question itself: with [`TypedInterrupt::answer`], or with
    /// [`OpenInterrupt::answer_json`](super::OpenInterrupt::answer_json) on the
    /// [`OpenInterrupt`](super::OpenInterrupt) that the client was shown and sends back.
    pub fn json(id: impl Into<String>, answer: Value) -> Self {
        Self { id: id.into(), json: storable(answer), question: None }
    }

    /// Returns the id of the question that it answers.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns `true` if the given question is the one that was answered, or if that is not known.
    pub(crate) fn is_to(&self, question: &Value) -> bool {
        // JSON values are compared, so the order of a map's keys does not matter.
        self.question.as_ref().is_none_or(|shown| shown == question)
    }

    /// Returns the question's id and the answer as JSON.
    pub(crate) fn into_parts(self) -> Result<(String, Value), ErrorKind> {
        match self.json {
            Ok(json) => Ok((self.id, json)),
            Err(reason) => Err(ErrorKind::InvalidAnswer { id: self.id, reason }),
        }
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
        let json = to_json(&answer).map_err(|reason| format!("it {reason}"));
        Answer::new(self.id.clone(), json, self.shown.clone())
    }
}

impl<Q> Deref for TypedInterrupt<Q> {
    type Target = Q;

    fn deref(&self) -> &Q {
        &self.question
    }
}
