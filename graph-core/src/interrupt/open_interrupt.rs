use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{InterruptMismatch, schema};

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
    /// The name of the question's type; see [`Question::name`](super::Question::name).
    pub name: String,
    /// The key that the node gave the question, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The question, as JSON.
    pub question: Value,
    /// The version of the question's JSON; see [`Question::VERSION`](super::Question::VERSION).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub version: u32,
    /// The JSON Schema of the answer, or `None` if every value may fit; see
    /// [`Question::answer_schema`](super::Question::answer_schema).
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

    /// Returns the forms of this question, the current one first.
    pub(crate) fn into_forms(self) -> impl Iterator<Item = EarlierForm> {
        let Self { question, version, answer_schema, earlier, .. } = self;
        std::iter::once(EarlierForm { question, version, answer_schema }).chain(earlier.0)
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
