use serde::de::{Deserialize, Deserializer, Error as _};
use serde_json::value::RawValue;

use crate::interrupt::OpenInterrupt;

/// An interrupt's question as its record stores it. The record's key is the interrupt's id.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct StoredQuestion {
    pub(crate) name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<String>,
    #[serde(deserialize_with = "at_full_depth")]
    pub(crate) question: serde_json::Value,
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
    pub(super) fn of(open: &OpenInterrupt) -> Self {
        let OpenInterrupt { name, key, question, namespace, node, task, .. } = open.clone();
        let within = (!namespace.is_empty()).then_some(Asker { namespace, node, task });
        Self { name, key, question, within }
    }

    /// Converts the record into an open interrupt.
    pub(crate) fn open(self, id: String, node: &str, task: usize) -> OpenInterrupt {
        let Self { name, key, question, within } = self;
        let asker = within.unwrap_or_else(|| Asker { namespace: Vec::new(), node: node.to_owned(), task });
        let Asker { namespace, node, task } = asker;
        OpenInterrupt { id, node, task, name, key, question, namespace }
    }
}
