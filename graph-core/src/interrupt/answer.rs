use std::ops::Deref;

use serde_json::Value;

use crate::error::ErrorKind;
use crate::payload::to_json;

use super::Question;

/// An answer to one question, which it names: it never answers another.
#[derive(Clone, Debug, PartialEq)]
#[must_use = "an answer does nothing until a run is resumed with it"]
pub struct Answer {
    id: String,
    /// As JSON, or why it is none.
    json: Result<Value, String>,
    /// The question as it was when it was answered, where that is known.
    question: Option<Value>,
}

impl Answer {
    pub(super) fn new(id: String, json: Result<Value, String>, question: Value) -> Self {
        Self { id, json, question: Some(question) }
    }

    /// An answer to the question of this id, as a client sends both.
    ///
    /// It knows nothing of the question but its id. A question that changes while it is open —its node ran again, on
    /// another state— keeps its id: this answers whatever it asks by then. An answer made from the question itself, with
    /// [`TypedInterrupt::answer`] or [`OpenInterrupt::answer_json`](super::OpenInterrupt::answer_json), is refused instead; a client
    /// that sends back the [`OpenInterrupt`](super::OpenInterrupt) that it was shown can be answered for so.
    pub fn json(id: impl Into<String>, answer: Value) -> Self {
        Self { id: id.into(), json: Ok(answer), question: None }
    }

    /// The id of the question that it answers.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Whether it answers this question: it is the one that was shown, as far as is known.
    pub(crate) fn is_to(&self, question: &Value) -> bool {
        // JSON values: the order of a map's keys is none of theirs.
        self.question.as_ref().is_none_or(|shown| shown == question)
    }

    /// The question's id, and the answer as JSON.
    pub(crate) fn into_parts(self) -> Result<(String, Value), ErrorKind> {
        match self.json {
            Ok(json) => Ok((self.id, json)),
            Err(reason) => Err(ErrorKind::InvalidAnswer { id: self.id, reason }),
        }
    }
}

/// One answer is as good as a list of it.
impl IntoIterator for Answer {
    type Item = Self;
    type IntoIter = std::iter::Once<Self>;

    fn into_iter(self) -> Self::IntoIter {
        std::iter::once(self)
    }
}

/// A question that was asked, as its own type; derefs to it.
#[derive(Clone, Debug)]
pub struct TypedInterrupt<Q> {
    id: String,
    question: Q,
    /// The question as it was read.
    shown: Value,
}

impl<Q: Question> TypedInterrupt<Q> {
    pub(super) fn new(id: String, question: Q, shown: Value) -> Self {
        Self { id, question, shown }
    }

    /// The question's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Answers it, as it is here: should it ask something else by the time that the run is resumed, the answer is refused.
    /// An answer that cannot be stored is told then as well.
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
