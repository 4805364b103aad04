use std::ops::Deref;

use serde_json::Value;

use crate::error::ErrorKind;
use crate::state::stored::anything::to_json;

use super::Question;

/// An answer to one question, which it names: it never answers another.
#[derive(Clone, Debug, PartialEq)]
#[must_use = "an answer does nothing until a run is resumed with it"]
pub struct Answer {
    id: String,
    /// As JSON, or why it is none.
    json: Result<Value, String>,
}

impl Answer {
    pub(super) fn new(id: String, json: Result<Value, String>) -> Self {
        Self { id, json }
    }

    /// An answer to the question of this id, as a client sends both.
    pub fn json(id: impl Into<String>, answer: Value) -> Self {
        Self::new(id.into(), Ok(answer))
    }

    /// The id of the question that it answers.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The question's id, and the answer as JSON.
    pub(crate) fn into_parts(self) -> Result<(String, Value), ErrorKind> {
        match self.json {
            Ok(json) => Ok((self.id, json)),
            Err(reason) => Err(ErrorKind::Answer { id: self.id, reason }),
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
pub struct Asked<Q> {
    id: String,
    question: Q,
}

impl<Q: Question> Asked<Q> {
    pub(super) fn new(id: String, question: Q) -> Self {
        Self { id, question }
    }

    /// The question's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Answers it. An answer that cannot be stored is told when the run is resumed with it.
    pub fn answer(&self, answer: Q::Answer) -> Answer {
        let json = to_json(&answer).map_err(|reason| format!("it {reason}"));
        Answer::new(self.id.clone(), json)
    }
}

impl<Q> Deref for Asked<Q> {
    type Target = Q;

    fn deref(&self) -> &Q {
        &self.question
    }
}
