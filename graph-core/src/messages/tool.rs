use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Content;
use super::json::null_is_default;

/// What came of a [`ToolCall`](super::ToolCall).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolMessage {
    /// What the model is told.
    #[serde(default)]
    pub content: Content,
    /// The call.
    pub tool_call_id: String,
    /// Its id; `add_messages` gives one to what has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whether it went well.
    #[serde(default, deserialize_with = "null_is_default")]
    pub status: ToolStatus,
    /// What the application gets of it, and the model does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<Value>,
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

/// Whether a tool did what it was asked to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolStatus {
    /// It did.
    #[default]
    Success,
    /// It did not; the content says why.
    Error,
}

impl ToolMessage {
    /// What came of the call with this id.
    pub fn new(tool_call_id: impl Into<String>, content: impl Into<Content>) -> Self {
        Self { content: content.into(), tool_call_id: tool_call_id.into(), ..Self::default() }
    }

    /// Why the call with this id has failed.
    pub fn error(tool_call_id: impl Into<String>, content: impl Into<Content>) -> Self {
        Self { status: ToolStatus::Error, ..Self::new(tool_call_id, content) }
    }

    /// Says which tool it is of.
    pub fn name(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// Keeps something for the application that the model is not told; null is nothing.
    pub fn artifact(self, artifact: impl Into<Value>) -> Self {
        Self { artifact: Some(artifact.into()).filter(|artifact| !artifact.is_null()), ..self }
    }
}
