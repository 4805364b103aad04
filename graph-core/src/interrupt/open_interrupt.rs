use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Answer, InterruptMismatch, Question, TypedInterrupt};

/// A question that a task waits for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OpenInterrupt {
    /// Which question it is: the same when the task runs again, different for every other.
    pub id: String,
    /// The node that asks.
    pub node: String,
    /// Its place in the superstep.
    pub task: usize,
    /// The name of the question's type: [`Question::name`].
    pub name: String,
    /// The key that the node gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The question, as JSON.
    pub question: Value,
    /// The subgraph nodes that it is asked within, outermost first; nothing for a node of the run's own graph.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub namespace: Vec<String>,
}

impl OpenInterrupt {
    /// An answer as a client sends it, to the question as it is here: should it ask something else by the time that the run
    /// is resumed, the answer is refused. Whether it is one for this question's type is seen when the task reads it.
    pub fn answer_json(&self, answer: Value) -> Answer {
        Answer::new(self.id.clone(), Ok(answer), self.question.clone())
    }

    /// The question as a `Q`.
    ///
    /// # Errors
    /// It is a question of another name, or its JSON is none of `Q`.
    pub fn read<Q: Question>(&self) -> Result<TypedInterrupt<Q>, InterruptMismatch> {
        if self.name != Q::name() {
            return Err(InterruptMismatch::OtherType {
                id: self.id.clone(),
                name: self.name.clone(),
                expected: Q::name(),
            });
        }
        match Q::deserialize(&self.question) {
            Ok(question) => Ok(TypedInterrupt::new(self.id.clone(), question, self.question.clone())),
            Err(error) => Err(InterruptMismatch::Unreadable {
                id: self.id.clone(),
                name: Q::name(),
                reason: error.to_string(),
            }),
        }
    }
}
