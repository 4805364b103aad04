use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::protocol::{AssistantId, Object, Timestamp};

/// An assistant, as it is stored and as clients see it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Assistant")]
pub(crate) struct AssistantRecord {
    /// The id.
    pub(crate) assistant_id: AssistantId,
    /// The graph.
    pub(crate) graph_id: String,
    /// The config of its runs.
    pub(crate) config: Object,
    /// The context of its runs.
    pub(crate) context: Object,
    /// The metadata.
    pub(crate) metadata: Object,
    /// The name.
    pub(crate) name: String,
    /// The time of creation.
    pub(crate) created_at: Timestamp,
    /// The time of the last change.
    pub(crate) updated_at: Timestamp,
    /// The version in use.
    pub(crate) version: u64,
    /// The description.
    pub(crate) description: Option<String>,
    /// The identity to which the assistant belongs. `None` for one that all share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub(crate) user_id: Option<Arc<str>>,
}

impl AssistantRecord {
    /// Creates the assistant that a graph has by default.
    pub(crate) fn of_graph(graph: &str) -> Self {
        let now = Timestamp::now();
        Self {
            assistant_id: AssistantId::of_graph(graph),
            graph_id: graph.to_owned(),
            config: Object::new(),
            context: Object::new(),
            metadata: Object::from_iter([("created_by".to_owned(), "system".into())]),
            name: graph.to_owned(),
            created_at: now,
            updated_at: now,
            version: 1,
            description: None,
            user_id: None,
        }
    }
}

/// One version of an assistant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct AssistantVersion {
    /// The assistant.
    pub(crate) assistant_id: AssistantId,
    /// The version.
    pub(crate) version: u64,
    /// The graph.
    pub(crate) graph_id: String,
    /// The config of its runs.
    pub(crate) config: Object,
    /// The context of its runs.
    pub(crate) context: Object,
    /// The metadata.
    pub(crate) metadata: Object,
    /// The time of creation of the version.
    pub(crate) created_at: Timestamp,
    /// The name.
    pub(crate) name: String,
    /// The description.
    pub(crate) description: Option<String>,
}

impl AssistantVersion {
    /// Returns the version that an assistant has now.
    pub(crate) fn of(assistant: &AssistantRecord) -> Self {
        let AssistantRecord {
            assistant_id,
            graph_id,
            config,
            context,
            metadata,
            name,
            version,
            description,
            ..
        } = assistant.clone();
        let created_at = assistant.updated_at;
        Self { assistant_id, version, graph_id, config, context, metadata, created_at, name, description }
    }

    /// Makes an assistant have this version.
    pub(crate) fn restore(self, assistant: &mut AssistantRecord) {
        let Self { version, graph_id, config, context, metadata, name, description, .. } = self;
        let AssistantRecord { assistant_id, created_at, updated_at, .. } = *assistant;
        let user_id = assistant.user_id.take();
        *assistant = AssistantRecord {
            assistant_id,
            graph_id,
            config,
            context,
            metadata,
            name,
            created_at,
            updated_at,
            version,
            description,
            user_id,
        };
    }
}
