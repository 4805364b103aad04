use serde::de::{Deserialize, Deserializer, Error as _};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::checkpoint::{RecordKind, TaskRecord};
use crate::interrupt::OpenInterrupt;

use super::hooks::answer_record;
use super::records::{json_record, key, place};

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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer_schema: Option<Value>,
    /// The version of the stored answer, if it is not that of the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer_version: Option<u32>,
    /// The node that asks, if it is a node of a subgraph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) within: Option<Asker>,
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

impl StoredQuestion {
    pub(crate) fn of(open: &OpenInterrupt) -> Self {
        let OpenInterrupt { name, key, question, version, answer_schema, namespace, node, task, .. } =
            open.clone();
        let within = (!namespace.is_empty()).then_some(Asker { namespace, node, task });
        let version = (version > 0).then_some(version);
        Self { name, key, question, version, answer_schema, answer_version: None, within }
    }

    /// Returns the version of the question.
    pub(crate) fn version(&self) -> u32 {
        self.version.unwrap_or_default()
    }

    /// Returns the version of the stored answer.
    pub(super) fn answer_version(&self) -> u32 {
        self.answer_version.unwrap_or(self.version())
    }

    /// Converts the record into an open interrupt.
    pub(crate) fn open(self, id: String, node: &str, task: usize) -> OpenInterrupt {
        let version = self.version();
        let Self { name, key, question, answer_schema, within, .. } = self;
        let asker = within.unwrap_or_else(|| Asker { namespace: Vec::new(), node: node.to_owned(), task });
        let Asker { namespace, node, task } = asker;
        OpenInterrupt { id, node, task, name, key, question, version, answer_schema, namespace }
    }
}

/// Creates the records of an answer. If its version is not that of the question, they change the question's record too.
pub(crate) fn answer_records(
    task: usize,
    id: &str,
    question: &StoredQuestion,
    (answer, version): (&Value, u32),
) -> Vec<TaskRecord> {
    let mut records = vec![answer_record(task, id, answer)];
    if version != question.version() {
        let answered = StoredQuestion { answer_version: Some(version), ..question.clone() };
        records.extend(json_record(key(place(task), RecordKind::Interrupt, id), &answered));
    }
    records
}
