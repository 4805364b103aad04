use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::payload::from_json;

use super::{Answer, InterruptMismatch, Question, TypedInterrupt};

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
    /// The path of subgraph nodes, outermost first; empty for a node of the run's own graph.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub namespace: Vec<String>,
}

impl OpenInterrupt {
    /// Creates an answer to this question from JSON that a client sends.
    ///
    /// If the question has changed when the run is resumed, the answer is refused. The JSON is checked against the answer's
    /// type when the task reads it: an answer of another type fails the task, and the question is open again.
    pub fn answer_json(&self, answer: Value) -> Answer {
        Answer::of_json(self.id.clone(), answer, self.question.clone())
    }

    /// Reads the question as a `Q`.
    ///
    /// # Errors
    /// [`InterruptMismatch::OtherType`] if the question has another name, [`InterruptMismatch::Unreadable`] if its JSON does
    /// not fit `Q`.
    pub fn read<Q: Question>(&self) -> Result<TypedInterrupt<Q>, InterruptMismatch> {
        if self.name != Q::name() {
            return Err(InterruptMismatch::OtherType {
                id: self.id.clone(),
                name: self.name.clone(),
                expected: Q::name(),
            });
        }
        match from_json::<Q>(self.question.clone()) {
            Ok(question) => Ok(TypedInterrupt::new(self.id.clone(), question, self.question.clone())),
            Err(error) => Err(InterruptMismatch::Unreadable {
                id: self.id.clone(),
                name: Q::name(),
                reason: error.to_string(),
            }),
        }
    }
}
