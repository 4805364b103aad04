use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::payload::from_json;

use super::evolution::migrated_question;
use super::{Answer, InterruptMismatch, Question, TypedInterrupt, schema};

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

    /// Reads the question as a `Q`. A question of an older version is [migrated](Question::migrate).
    ///
    /// # Errors
    /// - [`InterruptMismatch::OtherType`] if the question has another name.
    /// - [`InterruptMismatch::Unreadable`] if its JSON does not fit `Q`, its migration fails, or its version is newer.
    pub fn read<Q: Question>(&self) -> Result<TypedInterrupt<Q>, InterruptMismatch> {
        if self.name != Q::name() {
            return Err(InterruptMismatch::OtherType {
                id: self.id.clone(),
                name: self.name.clone(),
                expected: Q::name(),
            });
        }
        let unreadable =
            |reason| InterruptMismatch::Unreadable { id: self.id.clone(), name: Q::name(), reason };
        let json = if self.version == Q::VERSION {
            self.question.clone()
        } else {
            let migrated = migrated_question::<Q>(self.version, &self.question);
            migrated.map_err(|error| unreadable(error.to_string()))?
        };
        let question = from_json::<Q>(json).map_err(|error| unreadable(error.to_string()))?;
        Ok(TypedInterrupt::new(self.id.clone(), question, self.question.clone()))
    }
}

fn is_zero(version: &u32) -> bool {
    *version == 0
}
