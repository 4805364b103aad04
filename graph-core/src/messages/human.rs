use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Content;
use super::json::null_is_default;

/// A message of a person.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HumanMessage {
    /// What it says.
    #[serde(default)]
    pub content: Content,
    /// Its id; `add_messages` gives one to what has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Who it is, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What the form of one provider has besides.
    #[serde(default, deserialize_with = "null_is_default", skip_serializing_if = "Map::is_empty")]
    pub additional_kwargs: Map<String, Value>,
    /// What a provider has said of it.
    #[serde(default, deserialize_with = "null_is_default", skip_serializing_if = "Map::is_empty")]
    pub response_metadata: Map<String, Value>,
    /// Everything else that it was read with.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl HumanMessage {
    /// A message that says this.
    pub fn new(content: impl Into<Content>) -> Self {
        Self { content: content.into(), ..Self::default() }
    }
}
