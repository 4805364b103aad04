use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Content;
use super::null_is_default::null_is_default;

/// A message from the application to the model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SystemMessage {
    /// The content.
    #[serde(default)]
    pub content: Content,
    /// The id. `add_messages` creates a missing one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The author's name, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Fields of a provider's format.
    #[serde(default, deserialize_with = "null_is_default", skip_serializing_if = "Map::is_empty")]
    pub additional_kwargs: Map<String, Value>,
    /// Metadata from a provider.
    #[serde(default, deserialize_with = "null_is_default", skip_serializing_if = "Map::is_empty")]
    pub response_metadata: Map<String, Value>,
    /// All other fields of the JSON object.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl SystemMessage {
    /// Creates a message with this content.
    pub fn new(content: impl Into<Content>) -> Self {
        Self { content: content.into(), ..Self::default() }
    }
}
