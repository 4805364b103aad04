use serde::de::{Deserialize, Deserializer, Error as _};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::checkpoint::{RecordKey, TaskRecord};
use crate::interrupt::{EarlierForm, EarlierForms, OpenInterrupt};
use crate::options::{from_millis, to_millis};
use crate::payload::Payload;

use super::json::json_record;

/// An interrupt's question as its record stores it. The record's key is the interrupt's id.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct StoredQuestion {
    pub(crate) name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<String>,
    #[serde(deserialize_with = "at_full_depth")]
    pub(crate) question: Value,
    /// The version of the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    version: Option<u32>,
    /// The JSON Schema of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "some_at_full_depth")]
    answer_schema: Option<Value>,
    /// The version of the stored answer, if it is not that of the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer_version: Option<u32>,
    /// The number of open questions that its task asked before it.
    #[serde(default, skip_serializing_if = "is_first")]
    pub(crate) nth: usize,
    /// The number of the task's questions that were answered before this one was asked.
    #[serde(default, skip_serializing_if = "is_first")]
    pub(crate) answered: usize,
    /// The node that asks, if it is a node of a subgraph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) within: Option<Asker>,
    /// The time at which the question expires, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_at_ms: Option<u64>,
    /// Forms in which earlier versions of the program have asked the same question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    earlier: Vec<StoredForm>,
}

/// The place of a question among the questions and answers of its task.
#[derive(Clone, Copy, Debug, Default, serde::Deserialize)]
pub(crate) struct QuestionPlace {
    /// The number of open questions before it.
    #[serde(default)]
    pub(crate) nth: usize,
    /// The number of the task's questions that were answered before.
    #[serde(default)]
    pub(crate) answered: usize,
}

/// A form in which an earlier version of the program has asked the question.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct StoredForm {
    #[serde(deserialize_with = "at_full_depth")]
    question: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    version: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer_schema: Option<Value>,
}

/// A node of a subgraph that asks a question.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Asker {
    pub(crate) namespace: Vec<String>,
    pub(crate) node: String,
    pub(crate) task: usize,
}

/// Reads a value that may be as deep as a whole document, although it is part of one.
fn at_full_depth<'de, D: Deserializer<'de>>(deserializer: D) -> Result<serde_json::Value, D::Error> {
    // The depth of raw JSON does not count, so the value is parsed as a document of its own.
    let raw = Box::<RawValue>::deserialize(deserializer)?;
    serde_json::from_str(raw.get()).map_err(D::Error::custom)
}

fn is_first(nth: &usize) -> bool {
    *nth == 0
}

fn some_at_full_depth<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    at_full_depth(deserializer).map(Some)
}

impl StoredQuestion {
    pub(crate) fn of(open: &OpenInterrupt) -> Self {
        let OpenInterrupt {
            id: _,
            node,
            task,
            name,
            key,
            question,
            version,
            answer_schema,
            namespace,
            expires_at,
            earlier,
        } = open.clone();
        let within = (!namespace.is_empty()).then_some(Asker { namespace, node, task });
        let version = (version > 0).then_some(version);
        let expires_at_ms = expires_at.map(to_millis);
        let stored = |form: EarlierForm| StoredForm {
            question: form.question,
            version: (form.version > 0).then_some(form.version),
            answer_schema: form.answer_schema,
        };
        let earlier = earlier.0.into_iter().map(stored).collect();
        Self {
            name,
            key,
            question,
            version,
            answer_schema,
            answer_version: None,
            nth: 0,
            answered: 0,
            within,
            expires_at_ms,
            earlier,
        }
    }

    /// Sets its place.
    pub(crate) fn at(self, QuestionPlace { nth, answered }: QuestionPlace) -> Self {
        Self { nth, answered, ..self }
    }

    /// Sets the version of the stored answer.
    pub(super) fn answered_in(self, version: u32) -> Self {
        Self { answer_version: Some(version), ..self }
    }

    /// Returns the question without the version of its answer; `None` if it has none.
    pub(crate) fn unanswered(self) -> Option<Self> {
        self.answer_version.is_some().then_some(Self { answer_version: None, ..self })
    }

    /// Reads the number of answers before the question from its record.
    pub(crate) fn answers_before(payload: &Payload) -> usize {
        Self::asked(payload).answered
    }

    /// Reads the place of a question from its record. Reads nothing else, because questions may be large.
    pub(crate) fn asked(payload: &Payload) -> QuestionPlace {
        serde_json::from_slice(payload.bytes()).unwrap_or_default()
    }

    /// Returns the version of the question.
    pub(crate) fn version(&self) -> u32 {
        self.version.unwrap_or_default()
    }

    /// Returns the version of the stored answer.
    pub(crate) fn answer_version(&self) -> u32 {
        self.answer_version.unwrap_or(self.version())
    }

    /// Converts the record into an open interrupt.
    pub(crate) fn open(self, id: String, node: &str, task: usize) -> OpenInterrupt {
        let version = self.version();
        let Self { name, key, question, answer_schema, within, expires_at_ms, earlier, .. } = self;
        let asker = within.unwrap_or_else(|| Asker { namespace: Vec::new(), node: node.to_owned(), task });
        let Asker { namespace, node, task } = asker;
        let expires_at = expires_at_ms.and_then(from_millis);
        let form = |form: StoredForm| EarlierForm {
            question: form.question,
            version: form.version.unwrap_or_default(),
            answer_schema: form.answer_schema,
        };
        let earlier = EarlierForms(earlier.into_iter().map(form).collect());
        OpenInterrupt {
            id,
            node,
            task,
            name,
            key,
            question,
            version,
            answer_schema,
            namespace,
            expires_at,
            earlier,
        }
    }
}

impl StoredQuestion {
    /// Returns the record of a question without the version of its answer; `None` if it has none.
    pub(crate) fn without_answer(at: &RecordKey, payload: &Payload) -> Option<TaskRecord> {
        let stored: Self = serde_json::from_slice(payload.bytes()).ok()?;
        json_record(at.clone(), &stored.unanswered()?).ok()
    }
}
