use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::schema::named_component;
use super::{Fields, Place, Problems, Read};

/// A checkpoint as clients name it: `{"checkpoint_id", "checkpoint_ns", "thread_id"?, "checkpoint_map"?}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Checkpoint")]
pub(crate) struct CheckpointConfig {
    /// The id. `None` stands for the latest checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) checkpoint_id: Option<String>,
    /// The namespace: empty for the graph itself, `node:task` for a subgraph.
    #[serde(default)]
    pub(crate) checkpoint_ns: String,
    /// The thread. Clients leave it out, or send the thread of the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) thread_id: Option<String>,
}

impl Read for CheckpointConfig {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = Fields::of(value, at, problems)?;
        Some(Self {
            checkpoint_id: fields.optional("checkpoint_id"),
            checkpoint_ns: fields.optional("checkpoint_ns").unwrap_or_default(),
            thread_id: fields.optional("thread_id"),
        })
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        named_component::<Self>("CheckpointSelector", generator)
    }
}
